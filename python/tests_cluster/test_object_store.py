"""A database that an S3 store puts together from parts: the store copies pages, and only the rest is downloaded and uploaded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import litepress
import pytest
from litepress import _multipart, shards

pytest.importorskip("s3fs")
moto = pytest.importorskip("moto.server")

ROWS = 900_000
SCHEMA = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT, age INTEGER, note TEXT); CREATE INDEX by_age ON user (age);"
KEYS = {"key": "key", "secret": "secret"}


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, Any]]:
    """Starts a server of S3 on this machine."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    yield {**KEYS, "endpoint_url": f"http://127.0.0.1:{port}", "client_kwargs": {"region_name": "us-east-1"}}
    server.stop()


@pytest.fixture
def bucket(options: dict[str, Any], request: pytest.FixtureRequest) -> Iterator[Any]:
    from s3fs import S3FileSystem

    system = S3FileSystem(**options, skip_instance_cache=True)
    system.call_s3("create_bucket", Bucket="bucket")
    yield system
    system.rm("bucket", recursive=True)


def uploads(system: Any) -> list[Any]:
    """Returns the uploads that were begun and neither completed nor aborted: a store charges for their parts."""
    found: list[Any] = system.call_s3("list_multipart_uploads", Bucket="bucket").get("Uploads", [])
    return found


def parts(system: Any, folder: Path, note: str = "constant('x')") -> list[str]:
    names = []
    for number in (1, 2, 3):
        part = folder / f"{number}.part"
        litepress.generate(part, SCHEMA, ROWS, shard=(number, 3), set={"note": note, "area": "text(20, 30)"}, part=True)
        names.append(f"s3://bucket/parts/{number}.part")
        system.put_file(str(part), names[-1])
    return names


def rows_of(path: Path) -> Any:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = connection.execute("SELECT count(*), sum(id), sum(age), count(DISTINCT area), sum(length(note)) FROM user").fetchone()
    connection.close()
    return found


def test_the_store_copies_the_pages(bucket: Any, options: dict[str, Any], tmp_path: Path) -> None:
    names = parts(bucket, tmp_path)
    made = litepress.stitch("s3://bucket/one.db", names, storage_options=options)
    counts = made.details["store"]
    whole = litepress.stitch(tmp_path / "one.db", [tmp_path / f"{number}.part" for number in (1, 2, 3)])
    bucket.get_file("s3://bucket/one.db", str(tmp_path / "stored.db"))
    assert rows_of(tmp_path / "stored.db") == rows_of(tmp_path / "one.db")
    assert (made.rows, made.bytes, made.path) == (ROWS, whole.bytes, "s3://bucket/one.db")
    assert counts["copied_bytes"] + counts["uploaded_bytes"] == made.bytes == bucket.info("s3://bucket/one.db")["size"]
    table = sum(path.stat().st_size for path in tmp_path.glob("?.part"))
    # The first 5 MiB, which have page 1, are sent; and what the index takes is downloaded as entries.
    assert counts["copied_bytes"] > 0.5 * table, counts
    assert counts["downloaded_bytes"] < 0.5 * table, counts
    assert uploads(bucket) == []
    with pytest.raises(litepress.TargetExistsError):
        litepress.stitch("s3://bucket/one.db", names, storage_options=options)
    litepress.stitch("s3://bucket/one.db", names[:1], storage_options=options, if_exists="overwrite")
    assert bucket.info("s3://bucket/one.db")["size"] < made.bytes


def test_rows_with_overflow_pages_are_sent(bucket: Any, options: dict[str, Any], tmp_path: Path) -> None:
    """Their pages hold page numbers, so that the store cannot copy them."""
    rows = [(number, "a", 1, "x" * (9000 if number % 500 == 0 else 10)) for number in range(20_000)]
    litepress.write(tmp_path / "a.part", {"user": rows}, schema=SCHEMA, part=True)
    bucket.put_file(str(tmp_path / "a.part"), "s3://bucket/a.part")
    made = litepress.stitch("s3://bucket/one.db", "s3://bucket/a.part", storage_options=options)
    assert made.details["store"]["copied_bytes"] == 0
    bucket.get_file("s3://bucket/one.db", str(tmp_path / "one.db"))
    assert rows_of(tmp_path / "one.db") == (20_000, sum(range(20_000)), 20_000, 1, sum(len(row[3]) for row in rows))


@pytest.mark.parametrize("fault", ["a request fails", "a part was replaced"])
def test_a_failed_upload_is_aborted(fault: str, bucket: Any, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = parts(bucket, tmp_path)
    bucket.pipe_file("s3://bucket/one.db", b"the object that was there")
    copy = _multipart._Store._copy

    def fails(self: Any, piece: Any, into: dict[str, Any]) -> str:
        if fault == "a request fails":
            raise OSError("a fault of the test")
        bucket.pipe_file(names[piece.part], b"another part")
        return copy(self, piece, into)

    monkeypatch.setattr(_multipart._Store, "_copy", fails)
    with pytest.raises(OSError):
        litepress.stitch("s3://bucket/one.db", names, storage_options=options, if_exists="overwrite")
    assert bucket.cat_file("s3://bucket/one.db") == b"the object that was there"
    assert uploads(bucket) == []


def test_names_that_are_wrong(bucket: Any, options: dict[str, Any]) -> None:
    with pytest.raises(litepress.FileError, match="no such object"):
        litepress.stitch("s3://bucket/one.db", "s3://bucket/absent.part", storage_options=options)
    bucket.pipe_file("s3://bucket/text", b"no part at all, but a text that is long enough")
    with pytest.raises(litepress.DataError, match="no part of a database"):
        litepress.stitch("s3://bucket/one.db", "s3://bucket/text", storage_options=options)
    with pytest.raises(litepress.UsageError, match="only S3 stores"):
        litepress.stitch("gs://bucket/one.db", "gs://bucket/a.part")
    assert bucket.ls("bucket") == ["bucket/text"]


def test_shards_in_a_bucket(bucket: Any, options: dict[str, Any]) -> None:
    job = shards.begin("s3://bucket/user", table="user", primary_key="id", storage_options=options)
    made = job.commit([job.write(number, [{"id": number * 100 + one} for one in range(100)]) for number in range(3)])
    assert [row[0] for row in made.read(["id"], "id >= ?", [250])] == list(range(250, 300))
    assert made.check() and made.shard_of(150).rows == 100


def test_one_database_in_a_bucket(bucket: Any, options: dict[str, Any]) -> None:
    """The commit leaves the database and the manifest: parts and uploads are gone, also after a commit that fails."""
    place = {"table": "user", "schema": SCHEMA, "one_file": True, "storage_options": options}
    tasks, count = 3, 150_000

    def rows(number: int) -> Any:
        return ((number * count + one, f"area {one:020}", one % 90, "x") for one in range(count))

    job = shards.begin("s3://bucket/user", **place)
    made = job.commit([job.write(number, rows(number)) for number in range(tasks)])
    (shard,) = made.shards
    assert (shard.rows, shard.smallest, shard.largest, shard.checksum) == (tasks * count, (0,), (tasks * count - 1,), None)
    assert made.check() and sorted(bucket.find("bucket")) == ["bucket/user/_manifest.json", f"bucket/user/{shard.file}"]
    job = shards.begin("s3://bucket/user", **place, if_exists="overwrite")
    with pytest.raises(litepress.ConstraintError, match="rowids overlap"):
        job.commit([job.write(0, rows(0)), job.write(1, rows(0))])
    job.abort()
    assert sorted(bucket.find("bucket")) == ["bucket/user/_manifest.json", f"bucket/user/{shard.file}"]
    assert uploads(bucket) == []
