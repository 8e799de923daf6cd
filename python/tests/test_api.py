"""The package as an API: arguments of sqlite3, fields of exceptions, copies, hints for wrong keywords, and types of arguments."""

from __future__ import annotations

import copy
import errno
import inspect
import os
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import typing
from contextlib import closing
from pathlib import Path
from typing import Any

import litepress
import litepress._options as options
import numpy as np
import pytest
from litepress import _litepress
from litepress._files import PlanArguments

from conftest import queried


def test_connections_take_the_arguments_of_sqlite3() -> None:
    """A connection that no other thread may use could not serve the test client of a web framework."""
    with closing(litepress.connect({"t": {"a": [1]}}, check_same_thread=False)) as database:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.extend(database.execute("SELECT a FROM t")))
        thread.start()
        thread.join()
        assert found == [(1,)]

    class Mine(sqlite3.Connection):
        pass

    with closing(litepress.connect({"t": {"a": [1]}}, factory=Mine, isolation_level=None, detect_types=sqlite3.PARSE_COLNAMES)) as own:
        assert isinstance(own, Mine) and own.isolation_level is None
        assert own.execute("SELECT a FROM t").fetchall() == [(1,)]
    if sys.version_info < (3, 12):
        with pytest.raises(TypeError, match="3.12"):
            litepress.connect({"t": {"a": [1]}}, autocommit=True)
    else:
        with closing(litepress.connect({"t": {"a": [1]}}, autocommit=True)) as database:
            assert database.autocommit is True


def test_errors_of_the_system_have_errno_and_filename(tmp_path: Path) -> None:
    """`except OSError as error` got `errno`, `filename` and `strerror` that were all None."""
    target = tmp_path / "t.db"
    litepress.write(target, {"t": {"a": [1]}})
    with pytest.raises(FileExistsError) as exists:
        litepress.write(target, {"t": {"a": [1]}})
    assert (exists.value.errno, exists.value.filename) == (errno.EEXIST, str(target))
    assert exists.value.strerror == os.strerror(errno.EEXIST)
    with pytest.raises(OSError) as missing:
        litepress.load(tmp_path / "u.db", tmp_path / "no.csv")
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, str(tmp_path / "no.csv"))
    again = pickle.loads(pickle.dumps(missing.value))
    assert (again.errno, again.filename, str(again)) == (errno.ENOENT, missing.value.filename, str(missing.value))
    assert litepress.NoSpaceError("full").errno == errno.ENOSPC


def test_a_copy_of_a_writer_is_refused(tmp_path: Path) -> None:
    """The copy became a second owner: when it was collected, the database of the first was given up."""
    path = tmp_path / "t.db"
    with litepress.create(path, "CREATE TABLE t (a)") as writer:
        for one in (writer, writer["t"]):
            for make in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="cannot be copied"):
                    make(one)
        writer["t"].append((1,))
    assert queried(path, "SELECT a FROM t") == [(1,)]


def test_summaries_are_keys_and_keep_names_that_are_no_utf8(tmp_path: Path) -> None:
    """A frozen summary could not be hashed, and its path was another one if the name was not UTF-8."""
    one = litepress.write(tmp_path / "a.db", {"t": {"a": [1]}})
    other = litepress.write(tmp_path / "b.db", {"t": {"a": [1]}})
    assert len({one, other, pickle.loads(pickle.dumps(one))}) == 2
    odd = os.path.join(tmp_path, "q\udcff.db")
    summary = litepress.write(odd, {"t": {"a": [1]}})
    assert summary.path == odd and os.path.exists(odd)
    with litepress.create(odd, "CREATE TABLE t (a)", if_exists="overwrite") as writer:
        pass
    assert writer.summary is not None and writer.summary.path == odd


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [
        ("write", "indices", "indexes"),
        ("write", "dtype", "types"),
        ("write", "type", "types"),
        ("write", "foreign_key", "foreign_keys"),
        ("write", "primary_keys", "primary_key"),
        ("write", "replace", "if_exists"),
        ("to_bytes", "adapter", "adapters"),
        ("connect", "check_same_threads", "check_same_thread"),
        ("create", "page_sizes", "page_size"),
        ("load", "sep", "delimiter"),
        ("load", "na_values", "null_value"),
        ("load", "index", "indexes"),
        ("check", "sqlite", "full"),
        ("plan", "delimeter", "delimiter"),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_right_one(call: str, wrong: str, right: str, tmp_path: Path) -> None:
    """`got an unexpected keyword argument` left the user to search the documentation, for words that the program spells otherwise."""
    with pytest.raises(TypeError, match=f"'{wrong}'. Did you mean '{right}'\\?"):
        getattr(litepress, call)(tmp_path / "t.csv", **{wrong: 1})
    with pytest.raises(TypeError, match="'nothing_like_it'$"):
        getattr(litepress, call)(tmp_path / "t.csv", nothing_like_it=1)


#: Options of the program alone: they are about its output, or are the arguments of a function.
PROGRAM_ONLY = {"help", "json", "progress", "list", "list-presets", "preset", "write-recipe", "record-recipe", "discard", "quiet", "verbose",
                "open"}  # fmt: skip
#: Keywords that are another word than their option: nouns in the plural for what may be repeated, and words of pandas.
RENAMED = {"type": "types", "index": "indexes", "foreign-key": "foreign_keys", "no-header": "header", "overwrite": "if_exists",
           "append": "if_exists", "replace-tables": "if_exists"}  # fmt: skip


@pytest.mark.parametrize("command", ["load", "generate", "check", "profile", "compare", "compact", "index", "reindex"])
def test_keywords_are_the_words_of_the_program(command: str) -> None:
    """`--as` was `forms`, `--null` was `null`, `--type` was `types`: what users knew of one face did not help with the other."""
    run = subprocess.run([sys.executable, "-m", "litepress", command, "--help"], capture_output=True, text=True, check=True)
    told = set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z0-9-]*)", run.stdout, re.MULTILINE)) - PROGRAM_ONLY
    known = options.keyword_defaults(getattr(litepress, command)).keys() | inspect.signature(getattr(litepress, command)).parameters.keys()
    expected = {RENAMED.get(option, option.replace("-", "_")) for option in told}
    assert expected <= known, f"keywords that are missing: {sorted(expected - known)}"
    assert known - expected <= {"path", "other", "files", "copy", "progress", "statements", "names"} | ({"schema"} if command == "generate" else set())


def test_types_of_arguments_know_all_choices() -> None:
    names = {"on_conflict": "OnConflict", "sync": "Sync", "verify": "Verify", "format": "Format", "on_error": "OnError",
             "ragged": "Ragged", "stray_quotes": "StrayQuotes", "repeated_header": "RepeatedHeader", "invalid_utf8": "InvalidUtf8", "nan": "Nan",
             "fts_content": "FtsContent", "numbers": "Numbers"}  # fmt: skip
    for option, choices in _litepress.choices():
        assert [typing.get_args(one)[0] for one in typing.get_args(getattr(options, names[option]))] == choices


def test_plan_knows_the_arguments_of_load_generate_and_merge() -> None:
    """An option that `load` learns is one of `plan`, too: its type lists them once more."""
    known = {*options.keyword_defaults(litepress.load), *options.keyword_defaults(litepress.generate), "rows"}
    known |= {*options.keyword_defaults(litepress.merge), "merge"}
    assert PlanArguments.__annotations__.keys() == known - {"progress", "recipe"}


WRONG_CALLS = """
import litepress
litepress.write("a.db", 5)
litepress.write("a.db", {"t": [(1,)]}, if_exists="repalce")
litepress.write("a.db", {"t": [(1,)]}, verify="fulll")
litepress.write("a.db", {"t": [(1,)]}, indices=["a"])
litepress.load("a.db", "a.csv", on_error="rejct")
litepress.load("a.db", 5)
litepress.plan("a.csv", delimeter=";")
litepress.plan("a.csv", ragged="padd")
"""
RIGHT_CALLS = """
import io
import litepress
litepress.write("a.db", {"t": [(1,)]}, if_exists="overwrite", verify="full", sync="off", index=False)
litepress.load("a.db", [io.BytesIO(b""), "https://example.org/a.csv"], on_error="reject", ragged="pad")
litepress.plan("a.csv", "a.db", delimiter=";", table="t")
litepress.connect([{"a": 1}], check_same_thread=False).close()
"""


def test_misspelt_options_are_type_errors(tmp_path: Path) -> None:
    """`mypy --strict` passed `if_exists="repalce"`, and even `write("a.db", 5)`."""
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(WRONG_CALLS)
    right.write_text(RIGHT_CALLS)
    package = str(Path(litepress.__file__).parent.parent)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(wrong), str(right)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": "" if "site-packages" in package else package},
    )  # fmt: skip
    lines = sorted({int(line.split(":")[1]) for line in run.stdout.splitlines() if line.startswith(str(wrong.name)) and ": error" in line})
    assert lines == list(range(3, 11)), run.stdout + run.stderr
    assert not [line for line in run.stdout.splitlines() if line.startswith(right.name) and ": error" in line], run.stdout


def test_a_path_may_begin_with_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    litepress.write("~/t.db", {"t": {"a": [1]}})
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert litepress.load("~/x.db", "~/x.csv").rows == 1
    assert litepress.check("~/t.db").ok and litepress.check("~/x.db").ok


@pytest.mark.parametrize("is_there", [False, True])
def test_the_last_of_many_writers_wins(is_there: bool, tmp_path: Path) -> None:
    """Seven and more of ten threads that replaced one database failed: it had come into being meanwhile, or this program itself
    had a lock on it."""
    path = tmp_path / "t.db"
    for _ in range(3):
        if is_there:
            litepress.write(path, {"t": {"a": [0]}}, if_exists="overwrite")
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                litepress.write(path, {"t": {"a": [number] * 1000}}, if_exists="overwrite")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert queried(path, "SELECT count(*), min(a) = max(a) FROM t") == [(1000, 1)]
        path.unlink()


def test_many_processes_replace_one_database(tmp_path: Path) -> None:
    program = "import litepress, sys; [litepress.write(sys.argv[1], {'t': {'a': [1, 2]}}, if_exists='overwrite') for _ in range(5)]"
    runs = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "t.db")], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [("", 0)] * 4
    assert litepress.check(tmp_path / "t.db", full=True).ok


def own_locks() -> list[str]:
    own = str(os.getpid())
    with open("/proc/locks", encoding="ascii") as locks:
        return [line for line in locks if own in line.split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells")
@pytest.mark.parametrize("call", ["plan", "load", "profile"])
def test_ctrl_c_is_heard_while_a_database_is_read(call: str, tmp_path: Path) -> None:
    """`profile()` went on to its end, and the others left a thread and a lock behind: the next `check()` was refused."""
    source = tmp_path / "source.db"
    rows = 1_500_000
    litepress.write(source, {"t": {"a": np.arange(rows), "b": np.arange(rows) / 7}}, sync="off")
    calls: dict[str, Any] = {
        "plan": lambda: litepress.plan(source, table="t", schema="CREATE TABLE t (a TEXT, b)"),
        "load": lambda: litepress.load(tmp_path / "copy.db", source),
        "profile": lambda: litepress.profile(source, threads=1),
    }
    descriptors, threads = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        calls[call]()
    except KeyboardInterrupt:
        pass
    else:
        # A fast machine was done before: then nothing is left to say of profile(), which reads every row.
        assert call != "profile"
    finally:
        try:
            timer.join()
        except KeyboardInterrupt:
            pass
    assert own_locks() == []
    assert (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))) <= (descriptors, threads)
    assert litepress.check(source).ok
    assert not (tmp_path / "copy.db").exists() or call == "load"
