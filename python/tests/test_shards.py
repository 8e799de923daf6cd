"""Sets of shards: what readers see after each fault."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import litepress
import pyarrow as pa
import pytest
from litepress import shards

PARTS = 4
ROWS = 1000


def batches(part: int, first: int = 0) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a part: keys of a range of its own."""
    for start in range(part * ROWS, (part + 1) * ROWS, 250):
        ids = range(first + start, first + start + 250)
        yield pa.record_batch({"id": pa.array(ids, pa.int64()), "area": [f"a{one % 7}" for one in ids]})


def begun(path: Path, **options: Any) -> shards.Job:
    return shards.begin(path, **{"table": "user", "primary_key": "id", "indexes": ["area"], **options})


def written(path: Path, **options: Any) -> shards.Shards:
    job = begun(path, **options)
    return job.commit([job.write(number, batches(number)) for number in range(PARTS)])


def files(path: Path) -> set[str]:
    return {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()}


def assert_whole(path: Path, first: int = 0, rows: int = PARTS * ROWS) -> None:
    """Asserts that the set has each row once, and that there is no file beside those of the manifest."""
    made = shards.open(path)
    ids = [row[0] for row in made.read(["id"])]
    assert sorted(ids) == list(range(first, first + rows))
    assert files(path) == {"_manifest.json", *(shard.file for shard in made.shards)}
    report = made.check(full=True)
    assert report, str(report)
    assert (report.rows, report.shards, report.orphans) == (rows, len(made.shards), [])


def test_parts_of_several_processes_become_a_set(tmp_path: Path) -> None:
    job = begun(tmp_path / "user")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        parts = pool.starmap(write_part, [(pickle.dumps(job), number) for number in range(PARTS)])
    made = job.commit(map(pickle.loads, parts))
    assert_whole(tmp_path / "user")
    assert made.manifest.partitioning == "range"
    assert [made.shard_of(key) for key in (0, 999, 1000, 3999)] == [made.shards[number] for number in (0, 0, 1, 3)]
    assert made.shard_of(4000) is None and made.shard_of(-1) is None
    assert next(made.read(["area"], "id = ?", [1007])) == ("a6",)
    assert pa.Table.from_batches(made.batches()).schema == next(batches(0)).schema


def write_part(job: bytes, number: int) -> bytes:
    return pickle.dumps(pickle.loads(job).write(number, batches(number)))


def test_the_manifest_has_all_fields(tmp_path: Path) -> None:
    made = written(tmp_path / "user")
    read = json.loads((tmp_path / "user" / "_manifest.json").read_text())
    assert (read["format"], read["version"], read["generation"], read["table"]) == ("litepress.shards", 1, 1, "user")
    assert [sql.split("(")[0].strip() for sql in read["schema"]] == ["CREATE TABLE user", read["schema"][1].split("(")[0].strip()]
    assert read["schema"][1].startswith("CREATE INDEX") and len(read["schema"]) == 2
    assert (read["primary_key"], read["partitioning"], read["rows"]) == (["id"], "range", PARTS * ROWS)
    assert set(read["shards"][1]) == {"file", "rows", "bytes", "pages", "checksum", "smallest", "largest"}
    assert (read["shards"][1]["smallest"], read["shards"][1]["largest"]) == ([1000], [1999])
    assert made.manifest == shards.Manifest.from_json(made.manifest.to_json(), "again")


def test_two_attempts_of_a_task_leave_one_file(tmp_path: Path) -> None:
    """A task that ran twice has two complete files. The driver gets one part, and the other file must not count."""
    job = begun(tmp_path / "user")
    twice = [job.write(1, batches(1)) for _ in range(2)]
    with pytest.raises(litepress.UsageError, match="part 1 comes twice"):
        job.commit(twice)
    job.commit([job.write(0, batches(0)), twice[1], *(job.write(number, batches(number)) for number in (2, 3))])
    assert_whole(tmp_path / "user")


def test_an_attempt_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from batches(1)
        raise RuntimeError("half-way")

    job = begun(tmp_path / "user")
    with pytest.raises(RuntimeError, match="half-way"):
        job.write(1, broken())
    job.commit([job.write(number, batches(number)) for number in range(PARTS)])
    assert_whole(tmp_path / "user")


DIES = """
import os, pickle, signal, sys
sys.path.insert(0, sys.argv[1])
import test_shards
job = pickle.load(sys.stdin.buffer)
def dying():
    for number, batch in enumerate(test_shards.batches(1)):
        if number == 2 and sys.argv[2] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        yield batch
job.write(1, dying())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_attempt_is_repeated(moment: str, tmp_path: Path) -> None:
    """A worker was killed after its file was there: the file was no part of any message, and a reader of the folder counted it."""
    job = begun(tmp_path / "user")
    died = subprocess.run([sys.executable, "-c", DIES, str(Path(__file__).parent), moment], input=pickle.dumps(job))
    assert died.returncode == -signal.SIGKILL
    assert len([file for file in files(tmp_path / "user") if file.endswith(".db")]) == (moment == "after")
    job.commit([job.write(number, batches(number)) for number in range(PARTS)])
    assert_whole(tmp_path / "user")


def test_an_aborted_job_leaves_the_old_set(tmp_path: Path) -> None:
    written(tmp_path / "user")
    old = (tmp_path / "user" / "_manifest.json").read_bytes()
    job = begun(tmp_path / "user", if_exists="overwrite")
    job.write(0, batches(0, first=100_000))
    job.abort()
    assert (tmp_path / "user" / "_manifest.json").read_bytes() == old
    assert_whole(tmp_path / "user")
    with pytest.raises(litepress.FileError, match="the folder of the job is absent"):
        job.write(1, batches(1))
    begun(tmp_path / "other").abort()
    assert not (tmp_path / "other").exists()


def test_a_commit_that_fails_leaves_the_old_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "user")
    job = begun(tmp_path / "user", if_exists="overwrite")
    parts = [job.write(number, batches(number, first=100_000)) for number in range(PARTS)]
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no manifest today"):
        job.commit(parts)
    monkeypatch.undo()
    job.abort()
    assert_whole(tmp_path / "user")


def failing(*_: Any) -> None:
    raise OSError("no manifest today")


def test_a_failed_removal_does_not_undo_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that sees a commit fail calls abort: it would remove files that the new manifest names."""
    written(tmp_path / "user")
    job = begun(tmp_path / "user", if_exists="overwrite")
    parts = [job.write(number, batches(number, first=100_000)) for number in range(PARTS)]
    monkeypatch.setattr("litepress.shards._stores.Folder.remove", failing)
    job.commit(parts)
    monkeypatch.undo()
    job.abort()
    assert job.commit(parts).rows == PARTS * ROWS
    written(tmp_path / "user", if_exists="overwrite")
    assert_whole(tmp_path / "user")


DRIVER = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
import test_shards
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
test_shards.written(pathlib.Path(sys.argv[2]), if_exists="overwrite")
"""


def test_a_killed_driver_leaves_the_old_set_and_the_next_run_cleans_up(tmp_path: Path) -> None:
    written(tmp_path / "user")
    old = files(tmp_path / "user")
    died = subprocess.run([sys.executable, "-c", DRIVER, str(Path(__file__).parent), str(tmp_path / "user")])
    assert died.returncode == -signal.SIGKILL
    assert len(files(tmp_path / "user") - old) == PARTS + 1, "shards and a manifest that was not published"
    report = shards.open(tmp_path / "user").check()
    assert report and len(report.orphans) == PARTS + 1
    assert [row[0] for row in shards.open(tmp_path / "user").read(["id"])] == list(range(PARTS * ROWS))
    written(tmp_path / "user", if_exists="overwrite")
    assert_whole(tmp_path / "user")


def test_foreign_files_are_never_removed(tmp_path: Path) -> None:
    folder = tmp_path / "user"
    (folder / "v-1").mkdir(parents=True)
    for name in ("notes.txt", "v-1/part-00001.db", "_manifest.json.old"):
        (folder / name).write_text("mine")
    written(folder)
    written(folder, if_exists="overwrite")
    assert {"notes.txt", "v-1/part-00001.db", "_manifest.json.old"} <= files(folder)
    assert shards.open(folder).check().orphans == []


def test_a_reader_sees_one_set_or_the_other(tmp_path: Path) -> None:
    written(tmp_path / "user")
    stop, seen, wrong = threading.Event(), set(), []

    def read() -> None:
        while not stop.is_set():
            try:
                ids = [row[0] for row in shards.open(tmp_path / "user").read(["id"])]
            except litepress.FileError as error:
                assert "the shard is gone" in str(error)
                continue
            seen.add(ids[0])
            if sorted(ids) != list(range(ids[0], ids[0] + PARTS * ROWS)):
                wrong.append(ids)

    reader = threading.Thread(target=read)
    reader.start()
    for run in range(100):
        job = begun(tmp_path / "user", if_exists="overwrite", sync="off")
        job.commit([job.write(number, batches(number, first=run * 10_000)) for number in range(PARTS)])
    stop.set()
    reader.join()
    assert not wrong and len(seen) > 1
    assert_whole(tmp_path / "user", first=990_000)


def test_two_jobs_at_a_time_do_not_mix(tmp_path: Path) -> None:
    one, two = begun(tmp_path / "user"), begun(tmp_path / "user")
    parts = [one.write(number, batches(number)) for number in range(PARTS)]
    two.commit([two.write(number, batches(number)) for number in range(PARTS)])
    with pytest.raises(litepress.TargetError, match="another job has published"):
        one.commit(parts)
    one.abort()
    assert_whole(tmp_path / "user")


def test_appends_add_keys_that_are_new(tmp_path: Path) -> None:
    written(tmp_path / "user")
    with pytest.raises(litepress.TargetExistsError, match="is a set of shards"):
        begun(tmp_path / "user")
    job = begun(tmp_path / "user", if_exists="append")
    with pytest.raises(litepress.DataError, match=r"the new keys 3500 to 4499 overlap those of .*, 3000 to 3999"):
        job.commit([job.write(0, batches(0, first=3500))])
    job.abort()
    job = shards.begin(tmp_path / "user", if_exists="append", indexes=["area"])
    made = job.commit([job.write(0, batches(0, first=4000))])
    assert (made.manifest.generation, made.manifest.partitioning) == (2, "range")
    assert_whole(tmp_path / "user", rows=5000)
    job = shards.begin(tmp_path / "user", if_exists="append")
    with pytest.raises(litepress.DataError, match="has another schema than the set"):
        job.commit([job.write(0, batches(0, first=9000))])
    job.abort()


def test_parts_without_rows(tmp_path: Path) -> None:
    """A task without rows once made a database of 8 KiB, and a run without rows forgot the columns."""
    job = begun(tmp_path / "user")
    empty = next(batches(0)).slice(0, 0)
    made = job.commit([job.write(0, []), job.write(1, [empty]), job.write(2, batches(0))])
    assert len(made.shards) == 1
    job = begun(tmp_path / "user", if_exists="overwrite")
    made = job.commit([job.write(0, []), job.write(1, [empty])])
    assert (made.rows, len(made.shards), list(made.read())) == (0, 1, [])
    assert pa.Table.from_batches(made.batches(), schema=empty.schema).num_rows == 0
    assert_whole(tmp_path / "user", rows=0)
    job = begun(tmp_path / "none")
    with pytest.raises(litepress.DataError, match="no part has a row or a column"):
        job.commit([job.write(0, [])])
    job.abort()


def test_parts_of_another_shape_are_refused(tmp_path: Path) -> None:
    job = shards.begin(tmp_path / "user")
    parts = [job.write(0, [{"x": 1}]), job.write(1, [{"x": "one"}])]
    with pytest.raises(litepress.DataError, match="part 1 has another schema than part 0"):
        job.commit(parts)
    other = shards.begin(tmp_path / "user")
    with pytest.raises(litepress.UsageError, match="part 0 is of another job"):
        other.commit(parts)
    (tmp_path / "user" / parts[0].shards[0].file).unlink()
    with pytest.raises(litepress.FileError, match="the file of part 0 is absent"):
        job.commit(parts[:1])


def test_overlapping_keys_have_no_shard(tmp_path: Path) -> None:
    job = shards.begin(tmp_path / "user", primary_key="id")
    made = job.commit([job.write(number, [{"id": one} for one in range(number, 100, 2)]) for number in range(2)])
    assert made.manifest.partitioning == "none"
    with pytest.raises(litepress.UnsupportedError, match="the keys of the shards overlap"):
        made.shard_of(3)


def test_keys_of_all_types_keep_their_order(tmp_path: Path) -> None:
    schema = "CREATE TABLE t(k PRIMARY KEY, v) WITHOUT ROWID"
    keys: list[Any] = [-(2**63), -1.5, 0, 2**53 + 1, 2**63 - 1, float("inf"), "", "Z", "a", "\u00e9", "\U0001f600", b"", b"\x00", b"\xff"]
    job = shards.begin(tmp_path / "t", schema=schema)
    parts = [job.write(number, [{"k": key, "v": number}]) for number, key in enumerate(keys)]
    job.commit(reversed(parts))
    made = shards.open(tmp_path / "t")
    assert [row[1] for row in made.read()] == list(range(len(keys)))
    assert [made.shard_of(key) for key in keys] == list(made.shards)
    assert made.check(full=True)


def test_a_collation_gives_no_ranges(tmp_path: Path) -> None:
    """Python would look for 'B' behind 'a', and the table has it before."""
    job = shards.begin(tmp_path / "t", schema="CREATE TABLE t(k TEXT COLLATE NOCASE PRIMARY KEY)")
    made = job.commit([job.write(0, [("a",), ("B",)])])
    assert (made.manifest.partitioning, made.shards[0].smallest) == ("none", None)
    assert made.check()


VALUES = ["a/b", "..", "", "A", "a", "\u00e9t\u00e9 \u2603", "x" * 300, "CON", "q'\"", None]


def test_one_file_per_value(tmp_path: Path) -> None:
    """Values are no names of files: they have slashes, dots, cases, and are NULL."""
    batch = pa.record_batch({"tenant": [value for value in VALUES for _ in range(3)], "n": list(range(3 * len(VALUES)))})
    job = shards.begin(tmp_path / "out", table="event", one_file_per="tenant", indexes=["n"])
    made = job.commit([job.write(0, [batch.slice(0, 8), batch.slice(8)])])
    assert {shard.value for shard in made.shards} == set(VALUES)
    assert files(tmp_path / "out") == {"_manifest.json", *(shard.file for shard in made.shards)}
    for number, value in enumerate(VALUES):
        shard = made.shard_of(value)
        assert shard is not None and len(Path(shard.file).name) < 100
        assert len({Path(other.file).name.lower() for other in made.shards}) == len(VALUES)
        with made.connect(shard) as database:
            assert database.execute("SELECT tenant, n FROM event").fetchall() == [(value, 3 * number + one) for one in range(3)]
    assert made.shard_of("b") is None
    assert made.check(full=True)
    job = shards.begin(tmp_path / "out", if_exists="append", indexes=["n"])
    with pytest.raises(litepress.DataError, match="tenant = 'A' has a shard already"):
        job.commit([job.write(0, [batch.slice(9, 3)])])


@pytest.mark.parametrize(
    "options",
    [{}, {"without_rowid": True, "page_size": 1024}, {"schema": "CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, area TEXT)", "primary_key": None, "indexes": None}],
)
def test_one_database_at_the_end(options: dict[str, Any], tmp_path: Path) -> None:
    """Attempts that lost and a part without rows are there, too."""
    job = begun(tmp_path / "user", one_file=True, analyze=True, verify="full", **options)
    parts = [job.write(number, batches(number)) for number in (3, 1, 0, 2)]
    job.write(1, batches(1))
    parts.append(job.write(4, [next(batches(0)).slice(0, 0)]))
    made = job.commit(parts)
    (shard,) = made.shards
    assert (made.manifest.partitioning, shard.smallest, shard.largest) == ("range", (0,), (PARTS * ROWS - 1,))
    assert_whole(tmp_path / "user")
    with made.connect(shard) as database:
        assert database.execute("SELECT count(*) > 0 FROM sqlite_stat1").fetchone() == (1,)
    report = subprocess.run([sys.executable, "-m", "litepress", "check", tmp_path / "user"], capture_output=True, text=True)
    assert report.returncode == 0, report.stderr
    # A driver that was killed behind the commit repeats it.
    job.commit(parts)
    assert_whole(tmp_path / "user")


def test_a_database_at_the_end_that_cannot_be(tmp_path: Path) -> None:
    written(tmp_path / "user")
    job = begun(tmp_path / "user", one_file=True, if_exists="overwrite")
    with pytest.raises(litepress.ConstraintError, match="rowids overlap"):
        job.commit([job.write(0, batches(0)), job.write(1, batches(0))])
    job.abort()
    assert_whole(tmp_path / "user")
    job = begun(tmp_path / "none", one_file=True)
    assert (job.commit([job.write(0, [next(batches(0)).slice(0, 0)])]).rows, job.commit([]).rows) == (0, 0)
    for options, message in [
        ({"if_exists": "append"}, "cannot be appended to"),
        ({"one_file_per": "area", "if_exists": "overwrite"}, "exclude each other"),
        ({"path": "memory://user", "verify": "quick"}, "before it is whole"),
    ]:
        with pytest.raises(litepress.UsageError, match=message):
            begun(**{"path": tmp_path / "user", "one_file": True, **options})


def test_one_database_at_the_end_of_a_folder_by_url(tmp_path: Path) -> None:
    """A folder whose name began with file:/// was taken for an object store, where nothing can be verified."""
    job = begun(f"file://{tmp_path}/user", one_file=True, verify="full")
    job.commit([job.write(number, batches(number)) for number in range(PARTS)])
    assert_whole(tmp_path / "user")


def test_one_database_at_the_end_in_another_place() -> None:
    """Only S3 copies pieces of objects: elsewhere parts come to the driver, and the database goes back."""
    pytest.importorskip("fsspec")
    job = begun("memory://one_file", one_file=True)
    made = job.commit([job.write(number, batches(number)) for number in range(PARTS)])
    assert [shard.rows for shard in made.shards] == [PARTS * ROWS]
    assert sorted(row[0] for row in made.read(["id"])) == list(range(PARTS * ROWS))
    report = made.check(full=True)
    assert report and report.orphans == []


def test_rows_of_a_value_must_be_together(tmp_path: Path) -> None:
    job = shards.begin(tmp_path / "out", one_file_per="tenant")
    with pytest.raises(litepress.DataError, match=r"the rows with tenant = 1 do not follow one another.*sortWithinPartitions"):
        job.write(0, [pa.record_batch({"tenant": [1, 2, 1]})])
    parts = [job.write(number, [pa.record_batch({"tenant": [7, 8 + number]})]) for number in range(2)]
    with pytest.raises(litepress.DataError, match="the rows with tenant = 7 are in two parts, 0 and 1"):
        job.commit(parts)
    with pytest.raises(litepress.DataError, match="the column tenant of one_file_per is absent"):
        job.write(0, [pa.record_batch({"n": [1]})])
    job.abort()


def test_long_decimals_have_one_type_in_all_parts(tmp_path: Path) -> None:
    """The values of a part decided its type: one shard had INTEGER, another TEXT, and the commit failed."""
    from decimal import Decimal

    kind = pa.decimal128(38, 4)
    values = [[Decimal("1")], [Decimal("12345678901234567890.1234")], [None]]
    job = shards.begin(tmp_path / "d")
    made = job.commit([job.write(number, [pa.record_batch([pa.array(one, kind)], ["d"])]) for number, one in enumerate(values)])
    assert pa.Table.from_batches(made.batches())["d"].to_pylist() == [Decimal("1"), Decimal("12345678901234567890.1234"), None]
    assert made.check()


def damaged_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def other_rows(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM user WHERE id = (SELECT max(id) FROM user)")
    database.close()


@pytest.mark.parametrize(
    ("damage", "found"),
    [(Path.unlink, "the file is absent"), (damaged_byte, "the checksum: crc32:"), (other_rows, "rows: 999, and 1000 in the manifest")],
)
def test_check_finds_what_is_wrong(damage: Any, found: str, tmp_path: Path) -> None:
    made = written(tmp_path / "user")
    damage(tmp_path / "user" / made.shards[2].file)
    report = made.check()
    assert not report and {finding.file for finding in report.findings} == {made.shards[2].file}
    assert found in str(report)


def test_what_is_no_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(litepress.FileError, match="there is no set of shards"):
        shards.open(tmp_path)
    (tmp_path / "_manifest.json").write_text('{"format": "litepress.shards", "version": 2}')
    with pytest.raises(litepress.UnsupportedError, match="version 2, this litepress reads version 1"):
        shards.open(tmp_path)
    (tmp_path / "_manifest.json").write_text("[]")
    with pytest.raises(litepress.DataError, match="this is no manifest of shards"):
        shards.begin(tmp_path, if_exists="overwrite")


def test_importing_litepress_imports_no_engine() -> None:
    code = "import sys, litepress, litepress.shards; print([m for m in ('ray', 'dask', 'pyspark', 'pyarrow', 'fsspec') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_an_object_store_of_memory(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    url = f"memory://{tmp_path.name}/user"
    made = shards.begin(url, primary_key="id")
    made.commit([made.write(number, batches(number)) for number in range(PARTS)])
    job = shards.begin(url, primary_key="id", if_exists="overwrite")
    job.write(1, batches(1))
    there = job.commit([job.write(number, batches(number)) for number in range(PARTS)])
    assert [row[0] for row in shards.open(url).read(["id"])] == list(range(PARTS * ROWS))
    report = there.check()
    assert report and report.orphans == [], "the file of the other attempt is gone"
    job = shards.begin(url, if_exists="append")
    job.write(0, batches(0, first=9000))
    job.abort()
    assert shards.open(url).check().orphans == []


def test_the_program_agrees_on_a_set(tmp_path: Path) -> None:
    """``litepress check`` and ``litepress merge`` read the manifest that a job wrote, whatever the keys and values are."""
    keys: list[list[Any]] = [[-5, 7], ["\N{SNOWMAN}", "z"], [b"\x00\xff", b"\xff"], [1.5, float("inf")], [None, "it's"]]
    for number, (one, other) in enumerate(keys):
        for options in ({"primary_key": "id", "if_exists": "fail"}, {"one_file_per": "id"}):
            if options.get("primary_key") and one is None:
                continue
            folder = tmp_path / f"{number}-{len(options)}"
            job = shards.begin(folder, table="t", **options)
            rows = pa.RecordBatch.from_pylist([{"id": key, "n": 1} for key in (one, other)])
            made = job.commit([job.write(number, [rows.slice(number, 1)]) for number in range(2)])
            ended = program("check", folder, "--json")
            report = json.loads(ended.stdout)
            expected = {"ok": True, "manifest": True, "databases": 2, "rows": 2, "orphans": [], "bytes": made.manifest.bytes}
            assert {name: report[name] for name in expected} == expected, ended
            (folder / "notes.txt").write_text("nobody's")
            (folder / made.shards[0].file).with_name("lost.db").write_text("of a job that was killed")
            ended = program("check", folder)
            assert ended.returncode == 0 and "lost.db is not in the manifest" in ended.stdout and "notes" not in ended.stdout, ended
    made = written(tmp_path / "user")
    ended = program("merge", tmp_path / "one.db", tmp_path / "user")
    assert ended.returncode == 0, ended
    with closing(sqlite3.connect(tmp_path / "one.db")) as database:
        assert database.execute("SELECT count(*), min(id), max(id) FROM user").fetchone() == (PARTS * ROWS, 0, PARTS * ROWS - 1)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file = tmp_path / "user" / made.shards[1].file
    file.write_bytes(file.read_bytes()[:-1])
    for command in (["check", tmp_path / "user"], ["merge", tmp_path / "two.db", tmp_path / "user"]):
        ended = program(*command)
        assert ended.returncode == 1 and made.shards[1].file in ended.stdout + ended.stderr, ended
    file.unlink()
    ended = program("check", tmp_path / "user")
    assert ended.returncode == 1 and f"{made.shards[1].file}: the file is absent" in ended.stdout, ended


def program(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Runs the program of the package."""
    return subprocess.run([sys.executable, "-m", "litepress", *map(str, arguments)], capture_output=True, text=True)


def test_times_durations_and_keys_are_read_back(tmp_path: Path) -> None:
    """Times of day had no way back from their text, durations had none within lists, and a struct as a key of a map was a crash."""
    key = pa.struct([("x", pa.int32())])
    times, durations = [1, 86_399_999_999_999, None], [1, -90_000_000_000_123, 0]
    batch = pa.record_batch(
        {
            "time": pa.array(times, pa.time64("ns")),
            "times": pa.array([times, [], None], pa.list_(pa.time64("ns"))),
            "durations": pa.array([durations, [], None], pa.list_(pa.duration("us"))),
            "map": pa.array([[({"x": 1}, "a")], [], None], pa.map_(key, pa.string())),
            "numbers": pa.array([[(float("inf"), "a"), (0.5, None)], [], None], pa.map_(pa.float64(), pa.string())),
        }
    )
    job = shards.begin(tmp_path / "t")
    made = job.commit([job.write(0, [batch])])
    assert pa.Table.from_batches(made.batches()).to_batches() == [batch]


WRITES_MUCH = """
import sys
import pyarrow as pa
from litepress import shards

def batches():
    for start in range(0, 1_500_000, 50_000):
        numbers = range(start, start + 50_000)
        texts = [f"{number * 7919 % 1_500_000:040d}" for number in numbers]
        yield pa.record_batch({"id": pa.array(numbers, pa.int64()), "text": pa.array(texts)})

def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

job = shards.begin(sys.argv[1], table="t", primary_key="id", indexes=["text", ("text", "id")], memory="64MiB", sync="off")
part = job.write(0, [next(batches())])
before = status("VmRSS")
part = job.write(1, batches())
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_task_stays_within_its_memory(tmp_path: Path) -> None:
    """Eight tasks on a machine have an eighth of its memory each. The entries of the two indexes alone take 200 MB here."""
    run = subprocess.run([sys.executable, "-c", WRITES_MUCH, str(tmp_path / "t")], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 140 << 10, f"{run.stdout} KiB more than before"
