"""Spark on a standalone cluster of two workers: races of attempts, executors and drivers that are killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from litepress import shards
from sets import ROWS, assert_whole, files

pyspark = pytest.importorskip("pyspark")
HERE = Path(__file__).parent
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
ENVIRONMENT = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
PATIENCE = 240


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master and two workers of one core each, on two addresses of this machine: Spark runs a second attempt on another host only."""
    folder = tmp_path_factory.mktemp("cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    url = f"spark://127.0.0.1:{port}"
    running = [start(folder, "Master", "127.0.0.1", "--port", port)]
    try:
        wait_for(lambda: is_open(int(port)), "the master")
        for host in ("127.0.0.2", "127.0.0.3"):
            running.append(start(folder, "Worker", host, "--cores", "1", "--memory", "600m", "--work-dir", str(folder / host), url))
        yield url
    finally:
        for process in reversed(running):
            end(process)


def start(folder: Path, role: str, host: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{role.lower()}.{role}", "--host", host, "--webui-port", "0", *arguments]
    environment = {**ENVIRONMENT, "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
    with (folder / f"{role}-{host}.log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.1)


def drive(master: str, folder: Path, *jobs: str) -> subprocess.Popen[bytes]:
    """Starts a driver, whose jobs begin with a set that is there."""
    for job in jobs:
        old = shards.begin(job.partition(":")[2], table="user", primary_key="id")
        old.commit([old.write(0, [{"id": number} for number in range(ROWS)])])
    with (folder / "driver.log").open("wb") as log:
        return subprocess.Popen([sys.executable, HERE / "driver.py", master, *jobs], env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True)


def test_speculation_a_dead_executor_and_a_commit_that_fails(master: str, tmp_path: Path) -> None:
    """One driver for three jobs: a driver takes longer to start than each of them."""
    slow, killed, failed = (tmp_path / name for name in ("slow", "killed", "failed"))
    driver = drive(master, tmp_path, f"slow:{slow}", f"kill executor:{killed}", f"commit:{failed}")
    try:
        driver.wait(PATIENCE)
    finally:
        end(driver)
    log = (tmp_path / "driver.log").read_text()
    ended = {path: Path(f"{path}-ended").read_text() if Path(f"{path}-ended").exists() else log for path in (slow, killed, failed)}
    assert ended[slow] == "done", ended[slow]
    # The first attempt had its file, and slept. The second one won.
    assert [Path(f"{slow}-marker-{attempt}").exists() for attempt in (0, 1)] == [True, True]
    assert_whole(slow, first=ROWS)
    assert ended[killed] == "done", ended[killed]
    assert Path(f"{killed}-marker").exists()
    assert_whole(killed, first=ROWS)
    assert "a fault of the test: commit" in ended[failed]
    assert_whole(failed)


def test_a_killed_driver_leaves_the_old_set_and_the_next_job_cleans_up(master: str, tmp_path: Path) -> None:
    folder = tmp_path / "user"
    driver = drive(master, tmp_path, f"kill driver:{folder}")
    try:
        wait_for(lambda: Path(f"{folder}-marker").exists() or driver.poll() is not None, "the commit")
        assert driver.poll() is None, (tmp_path / "driver.log").read_text()
        os.killpg(driver.pid, signal.SIGKILL)
    finally:
        end(driver)
    assert_whole(folder, may_have_others=True)
    others = files(folder) - {"_manifest.json", *(shard.file for shard in shards.open(folder).shards)}
    assert len(others) >= 4, "the files of four tasks, or of more attempts, wait for a commit"
    job = shards.begin(folder, table="user", primary_key="id", if_exists="append")
    job.commit([job.write(0, [{"id": ROWS}])])
    assert_whole(folder, rows=ROWS + 1)
