"""Dask: what readers see after each fault, types, empty partitions, one file a value."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litepress import DataError, shards
from sets import ROWS, assert_whole, once

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pandas = pytest.importorskip("pandas")
import dask.dataframe
import litepress.dask

PARTS = 4


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path_factory.mktemp("dask"))}
    with distributed.LocalCluster(**options) as made, distributed.Client(made) as client:
        yield client


def users(first: int = 0) -> Any:
    ids = range(first, first + ROWS)
    return dask.dataframe.from_pandas(pandas.DataFrame({"id": ids, "area": [f"a{one % 7}" for one in ids]}), npartitions=PARTS)


def save(frame: Any, path: Path, **options: Any) -> Any:
    options = {"table": "user", "primary_key": "id", "indexes": ["area"], "if_exists": "overwrite", **options}
    return litepress.dask.to_litepress(frame, path, **options)


def faulty(fault: str, marker: str) -> Any:
    """Returns a function in place of the one that writes a partition. It fails in partition 1, once or always."""
    write = litepress.dask._write

    def fail(word: str) -> None:
        raise RuntimeError(f"a fault of the test: {word}")

    def faulty_write(job: shards.Job, number: int, frame: Any, index: bool | None) -> shards.Part:
        part = write(job, number, frame, index)
        if number == 1:
            assert (Path(job.path) / part.shards[0].file).exists()
            if fault == "kill after":
                once(marker, lambda: os.kill(os.getpid(), signal.SIGKILL))
            if fault == "raise after":
                once(marker, lambda: fail("after"))
            if fault == "raise always":
                fail("always")
        return part

    return faulty_write


def test_rows_go_there_and_back(tmp_path: Path) -> None:
    made = save(users(), tmp_path / "user")
    assert made.rows == ROWS
    assert_whole(tmp_path / "user")
    manifest = made.manifest
    assert (len(manifest.shards), manifest.partitioning, len(manifest.schema)) == (PARTS, "range", 2)
    read = litepress.dask.read(tmp_path / "user")
    assert read.npartitions == PARTS and [str(kind) for kind in read.dtypes] == ["int64[pyarrow]", "string"]
    rows = read.compute()
    assert rows["id"].to_list() == list(range(ROWS)) and rows["area"].to_list() == users().compute()["area"].to_list()
    some = litepress.dask.read(tmp_path / "user", columns=["id"], where="area = ? OR id < 3", parameters=["a5"]).compute()
    assert sorted(some["id"]) == [one for one in range(ROWS) if one % 7 == 5 or one < 3]
    assert len(litepress.dask.read(tmp_path / "user", where="id < 0")) == 0


@pytest.mark.parametrize("fault", ["kill after", "raise after", "raise always"])
def test_a_fault_of_a_task(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(users(), tmp_path / "user")
    old = (tmp_path / "user" / "_manifest.json").read_bytes()
    monkeypatch.setattr(litepress.dask, "_write", faulty(fault, str(tmp_path / "marker")))
    with dask.annotate(retries=2):
        if fault == "raise always":
            with pytest.raises(RuntimeError, match="a fault of the test: always"):
                save(users(first=100_000), tmp_path / "user")
            assert (tmp_path / "user" / "_manifest.json").read_bytes() == old
            assert_whole(tmp_path / "user", may_have_others=True)
        else:
            save(users(first=100_000), tmp_path / "user")
            assert (tmp_path / "marker").exists()
            assert_whole(tmp_path / "user", first=100_000)
    monkeypatch.undo()
    save(users(), tmp_path / "user")
    assert_whole(tmp_path / "user")


def test_a_commit_that_fails_leaves_the_old_set(tmp_path: Path) -> None:
    save(users(), tmp_path / "user")
    with pytest.raises(DataError, match="overlap"):
        save(users(first=ROWS - 1), tmp_path / "user", if_exists="append")
    assert_whole(tmp_path / "user")
    later = save(users(first=ROWS), tmp_path / "user", if_exists="append", compute=False)
    assert_whole(tmp_path / "user", may_have_others=True)
    assert later.compute().rows == 2 * ROWS
    assert_whole(tmp_path / "user", rows=2 * ROWS)


def test_partitions_without_rows(tmp_path: Path) -> None:
    frame = users()
    save(frame[frame["id"] < 10], tmp_path / "user")
    assert len(shards.open(tmp_path / "user").shards) == 1
    assert_whole(tmp_path / "user", rows=10)
    save(frame[frame["id"] < 0], tmp_path / "user")
    assert_whole(tmp_path / "user", rows=0)
    assert len(litepress.dask.read(tmp_path / "user")) == 0


def test_one_file_per_value(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="are in two parts|do not follow one another"):
        save(users(), tmp_path / "area", one_file_per="area")
    together = users().set_index("area", sort=True).reset_index()
    save(together, tmp_path / "area", one_file_per="area")
    made = shards.open(tmp_path / "area")
    assert len(made.shards) == 7 and made.shard_of("a1").rows in (5714, 5715) and made.check()
    assert len(litepress.dask.read(tmp_path / "area")) == ROWS


def test_indexes_of_frames(tmp_path: Path) -> None:
    frame = users().set_index("id")
    save(frame, tmp_path / "user")
    assert_whole(tmp_path / "user")
    save(users(), tmp_path / "plain", primary_key=None, index=True)
    assert shards.open(tmp_path / "plain").schema().names == ["index", "id", "area"]
    with pytest.raises(TypeError, match="a dask DataFrame is needed, not DataFrame"):
        litepress.dask.to_litepress(pandas.DataFrame({"a": [1]}), tmp_path / "wrong")


def test_types_and_nulls(tmp_path: Path) -> None:
    rows = pandas.DataFrame(
        {
            "i": pandas.array([1, None, 3, 4], dtype="Int64"),
            "r": [0.5, float("nan"), -1e300, 2.0],
            "t": pandas.array(["a", None, "é", ""], dtype="string"),
            "w": pandas.to_datetime(["2024-01-01 12:00", None, "1970-01-01 00:00", "2000-02-29 23:59"]).astype("datetime64[us]"),
            "f": pandas.array([True, None, False, True], dtype="boolean"),
        }
    )
    save(dask.dataframe.from_pandas(rows, npartitions=2), tmp_path / "types", primary_key=None, indexes=None)
    read = litepress.dask.read(tmp_path / "types").compute().reset_index(drop=True)
    assert [str(kind) for kind in read.dtypes[:2]] == ["int64[pyarrow]", "double[pyarrow]"]
    assert str(read.dtypes["w"]) == "timestamp[us][pyarrow]" and str(read.dtypes["f"]) == "bool[pyarrow]"
    for name in rows:
        told = [None if pandas.isna(value) else value for value in rows[name]]
        assert [None if pandas.isna(value) else value for value in read[name]] == told, name
