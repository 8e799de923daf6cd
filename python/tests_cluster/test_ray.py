"""Ray: what readers see after each fault, types, empty tasks, one file a value."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from litepress import DataError, TargetExistsError, UsageError, shards
from sets import ROWS, assert_whole, once

ray = pytest.importorskip("ray")
pyarrow = pytest.importorskip("pyarrow")
import litepress.ray

PARTS = 4


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    yield
    ray.shutdown()


def users(first: int = 0) -> Any:
    table = pyarrow.table({"id": range(first, first + ROWS), "area": [f"a{one % 7}" for one in range(first, first + ROWS)]})
    return ray.data.from_arrow([table.slice(part * ROWS // PARTS, ROWS // PARTS) for part in range(PARTS)])


def save(dataset: Any, path: Path, **options: Any) -> None:
    options = {"table": "user", "primary_key": "id", "indexes": ["area"], "if_exists": "overwrite", **options}
    dataset.write_datasink(litepress.ray.Datasink(path, **options))


class Faulty(litepress.ray.Datasink):
    """A sink with a task 1 that fails."""

    def __init__(self, fault: str, marker: Path, path: Path, **options: Any) -> None:
        super().__init__(path, **options)
        self.fault, self.marker = fault, str(marker)

    def write(self, blocks: Any, ctx: Any) -> Any:
        if ctx.task_idx != 1:
            return super().write(blocks, ctx)
        part = super().write(blocks, ctx)
        assert (Path(self.job.path) / part.shards[0].file).exists()
        if self.fault == "kill after":
            once(self.marker, lambda: os.kill(os.getpid(), signal.SIGKILL))
        if self.fault == "raise":
            raise RuntimeError("a fault of the test")
        return part

    def on_write_complete(self, write_result: Any) -> None:
        if self.fault == "no commit":
            write_result.write_returns.append(write_result.write_returns[0])
        super().on_write_complete(write_result)


def test_rows_go_there_and_back(tmp_path: Path) -> None:
    save(users(), tmp_path / "user")
    assert_whole(tmp_path / "user")
    manifest = shards.open(tmp_path / "user").manifest
    assert (len(manifest.shards), manifest.partitioning, len(manifest.schema)) == (PARTS, "range", 2)
    read = litepress.ray.read(tmp_path / "user")
    assert read.schema().base_schema == pyarrow.schema({"id": pyarrow.int64(), "area": pyarrow.string()})
    assert read.count() == ROWS and read.sum("id") == ROWS * (ROWS - 1) // 2
    some = litepress.ray.read(tmp_path / "user", columns=["id"], where="area = ? OR id < 3", parameters=["a5"]).take_all()
    assert sorted(row["id"] for row in some) == [one for one in range(ROWS) if one % 7 == 5 or one < 3]
    assert litepress.ray.read(tmp_path / "user", where="id < 0").count() == 0
    assert litepress.ray.read(tmp_path / "user").limit(5).count() == 5


def test_a_killed_worker_neither_loses_nor_doubles_rows(tmp_path: Path) -> None:
    save(users(), tmp_path / "user")
    sink = Faulty("kill after", tmp_path / "marker", tmp_path / "user", table="user", primary_key="id", if_exists="overwrite")
    users(first=100_000).write_datasink(sink)
    assert (tmp_path / "marker").exists()
    assert sink.shards is not None and sink.shards.rows == ROWS
    assert_whole(tmp_path / "user", first=100_000)


@pytest.mark.parametrize("fault", ["raise", "no commit"])
def test_a_failed_job_leaves_the_old_set(fault: str, tmp_path: Path) -> None:
    save(users(), tmp_path / "user")
    old = (tmp_path / "user" / "_manifest.json").read_bytes()
    sink = Faulty(fault, tmp_path / "marker", tmp_path / "user", table="user", primary_key="id", if_exists="overwrite")
    with pytest.raises(Exception, match="a fault of the test|comes twice"):
        users(first=100_000).write_datasink(sink)
    assert (tmp_path / "user" / "_manifest.json").read_bytes() == old
    assert_whole(tmp_path / "user", may_have_others=fault == "raise")
    save(users(first=ROWS), tmp_path / "user", if_exists="append")
    assert_whole(tmp_path / "user", rows=2 * ROWS)
    with pytest.raises(TargetExistsError):
        litepress.ray.Datasink(tmp_path / "user", primary_key="id")
    with pytest.raises(DataError, match="overlap"):
        save(users(first=ROWS), tmp_path / "user", if_exists="append")
    assert_whole(tmp_path / "user", rows=2 * ROWS)


def test_tasks_without_rows(tmp_path: Path) -> None:
    save(users().filter(lambda row: row["id"] < 10), tmp_path / "user")
    assert len(shards.open(tmp_path / "user").shards) == 1
    assert_whole(tmp_path / "user", rows=10)
    table = pyarrow.table({"id": pyarrow.array([], pyarrow.int64()), "area": pyarrow.array([], pyarrow.string())})
    try:
        save(ray.data.from_arrow(table), tmp_path / "user")
    except UsageError as error:
        pytest.fail(f"Ray knows the columns: {error}")
    assert_whole(tmp_path / "user", rows=0)
    assert litepress.ray.read(tmp_path / "user").count() == 0


def test_one_file_per_value(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="are in two parts|do not follow one another"):
        save(users(), tmp_path / "area", one_file_per="area")
    dataset = users().repartition(1).sort("area")
    save(dataset.repartition(1), tmp_path / "area", one_file_per="area", primary_key="id")
    made = shards.open(tmp_path / "area")
    assert len(made.shards) == 7 and made.shard_of("a1").rows in (5714, 5715) and made.check()
    assert litepress.ray.read(tmp_path / "area").count() == ROWS


def test_types(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "i": pyarrow.array([1, None, -(2**63)], pyarrow.int64()),
            "r": pyarrow.array([0.5, None, -1e300]),
            "t": pyarrow.array(["a\0b", None, "é"]),
            "b": pyarrow.array([b"\x00", None, b""], pyarrow.binary()),
            "d": pyarrow.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
            "w": pyarrow.array([dt.datetime(2024, 1, 1, 12), None, dt.datetime(1970, 1, 1)], pyarrow.timestamp("us")),
            "f": pyarrow.array([True, None, False]),
            "n": pyarrow.array([Decimal("1.10"), None, Decimal("-3.00")], pyarrow.decimal128(30, 2)),
            "l": pyarrow.array([[1, 2], None, []], pyarrow.list_(pyarrow.int64())),
        }
    )
    save(ray.data.from_arrow(table), tmp_path / "types", primary_key=None, indexes=None)
    read = pyarrow.concat_tables(ray.get(litepress.ray.read(tmp_path / "types").to_arrow_refs()))
    assert read.schema == table.schema and read.to_pylist() == table.to_pylist()
