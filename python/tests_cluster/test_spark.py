"""The data source of Spark: what readers see after each fault, every type, filters, streams."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from litepress import shards

pytest.importorskip("pyspark")
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])

import pyspark.sql.types as t
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

ROWS, PARTS = 40_000, 4


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.sql.session.timeZone": "America/New_York"}
    settings |= {"spark.sql.python.filterPushdown.enabled": "true", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def users(spark: SparkSession, first: int = 0) -> DataFrame:
    frame = spark.range(first, first + ROWS, numPartitions=PARTS)
    return frame.select("id", f.concat(f.lit("a"), f.col("id") % 7).alias("area"))


def save(frame: DataFrame, path: Path, mode: str = "overwrite", **options: Any) -> None:
    options = {"table": "user", "primaryKey": "id", "indexes": "area; area, id"} if not options else options
    frame.write.format("litepress").mode(mode).options(**options).save(str(path))


def files(path: Path) -> set[str]:
    return {str(one.relative_to(path)) for one in path.rglob("*") if one.is_file() and one.name != "marker"}


def assert_whole(path: Path, first: int = 0, rows: int = ROWS) -> None:
    """Asserts that the set has each row once, and that there is no file beside those of the manifest."""
    made = shards.open(path)
    assert sorted(row[0] for row in made.read(["id"])) == list(range(first, first + rows))
    assert files(path) == {"_manifest.json", *(shard.file for shard in made.shards)}
    report = made.check(full=True)
    assert report, str(report)


def test_rows_go_there_and_back(spark: SparkSession, tmp_path: Path) -> None:
    save(users(spark), tmp_path / "user")
    assert_whole(tmp_path / "user")
    manifest = shards.open(tmp_path / "user").manifest
    assert (len(manifest.shards), manifest.partitioning, len(manifest.schema)) == (PARTS, "range", 3)
    read = spark.read.format("litepress").load(str(tmp_path / "user"))
    assert read.schema == users(spark).schema
    assert read.rdd.getNumPartitions() == PARTS
    assert read.exceptAll(users(spark)).count() == 0 and read.count() == ROWS


@pytest.mark.parametrize("fault", ["raise half-way", "raise after", "kill after", "raise always"])
def test_a_fault_of_a_task(fault: str, spark: SparkSession, tmp_path: Path) -> None:
    from faults import FaultySource

    spark.dataSource.register(FaultySource)
    save(users(spark), tmp_path / "user")
    old = (tmp_path / "user" / "_manifest.json").read_bytes()
    frame = users(spark, first=100_000).write.format("faulty").mode("overwrite").option("primaryKey", "id").option("table", "user")
    frame = frame.option("fault", fault).option("marker", str(tmp_path / "marker"))
    if fault == "raise always":
        with pytest.raises(Exception, match="a fault of the test: always"):
            frame.save(str(tmp_path / "user"))
        assert (tmp_path / "user" / "_manifest.json").read_bytes() == old
        assert_whole(tmp_path / "user")
    else:
        frame.save(str(tmp_path / "user"))
        assert (tmp_path / "marker").exists()
        assert_whole(tmp_path / "user", first=100_000)


def test_a_commit_that_fails_leaves_the_old_set(spark: SparkSession, tmp_path: Path) -> None:
    save(users(spark), tmp_path / "user")
    with pytest.raises(Exception, match="overlap"):
        save(users(spark, first=ROWS - 1), tmp_path / "user", mode="append")
    assert_whole(tmp_path / "user")
    save(users(spark, first=ROWS), tmp_path / "user", mode="append")
    assert_whole(tmp_path / "user", rows=2 * ROWS)
    save(users(spark, first=2 * ROWS), tmp_path / "user", mode="append", memory="256MiB")
    assert_whole(tmp_path / "user", rows=3 * ROWS)


def test_an_append_of_other_columns_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    save(users(spark), tmp_path / "user")
    with pytest.raises(Exception, match="column name: absent in the set of shards .*, int in the new rows"):
        save(users(spark).withColumn("name", f.lit(1)), tmp_path / "user", mode="append")
    assert_whole(tmp_path / "user")


def test_empty_partitions_and_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    save(users(spark).where("id < 10"), tmp_path / "user")
    assert len(shards.open(tmp_path / "user").shards) == 1
    assert_whole(tmp_path / "user", rows=10)
    save(users(spark).where("id < 0"), tmp_path / "user")
    read = spark.read.format("litepress").load(str(tmp_path / "user"))
    assert read.count() == 0 and read.schema == users(spark).schema
    assert_whole(tmp_path / "user", rows=0)


def test_one_file_per_value(spark: SparkSession, tmp_path: Path) -> None:
    frame = users(spark).withColumn("area", f.when(f.col("area") == "a3", None).otherwise(f.concat(f.lit("../é "), "area")))
    with pytest.raises(Exception, match=r'are in two parts.*repartition\("area"\)|do not follow one another'):
        save(frame, tmp_path / "area", oneFilePer="area")
    save(frame.repartition("area").sortWithinPartitions("area"), tmp_path / "area", oneFilePer="area", indexes="id")
    made = shards.open(tmp_path / "area")
    assert len(made.shards) == 7 and made.shard_of("../é a1").rows in (5714, 5715)
    assert made.shard_of(None) is not None and made.check()
    read = spark.read.format("litepress").load(str(tmp_path / "area"))
    assert read.exceptAll(frame).count() == 0 and read.count() == ROWS


def test_one_database_at_the_end(spark: SparkSession, tmp_path: Path) -> None:
    frame = users(spark)
    options = {"table": "user", "primaryKey": "id", "indexes": "area", "oneFile": "true"}
    save(frame.repartitionByRange(5, "id"), tmp_path / "user", verify="full", **options)
    assert [shard.rows for shard in shards.open(tmp_path / "user").shards] == [ROWS]
    assert_whole(tmp_path / "user")
    with pytest.raises(Exception, match="rowids overlap"):
        save(frame.repartition(3, "area"), tmp_path / "user", **options)
    assert_whole(tmp_path / "user")


def test_modes_and_options_that_are_wrong(spark: SparkSession, tmp_path: Path) -> None:
    for mode in ("error", "ignore"):
        with pytest.raises(Exception, match="cannot be written in the"):
            save(users(spark), tmp_path / "user", mode=mode)
    with pytest.raises(Exception, match="there is no option primarykeys; did you mean primaryKey"):
        save(users(spark), tmp_path / "user", primaryKeys="id")
    with pytest.raises(Exception, match="there is no set of shards"):
        spark.read.format("litepress").load(str(tmp_path / "user"))


D = Decimal
UTC = dt.timezone.utc
TYPES: dict[str, tuple[t.DataType, list[Any]]] = {
    "boolean": (t.BooleanType(), [True, False]),
    "byte": (t.ByteType(), [-128, 127]),
    "short": (t.ShortType(), [-32768, 32767]),
    "integer": (t.IntegerType(), [-(2**31), 2**31 - 1]),
    "long": (t.LongType(), [-(2**63), 2**63 - 1]),
    "float": (t.FloatType(), [0.5, float("inf")]),
    "double": (t.DoubleType(), [0.1, 5e-324]),
    "decimal": (t.DecimalType(10, 2), [D("1.10"), D("-12345678.90")]),
    "decimal_whole": (t.DecimalType(18, 0), [D(10**18 - 1), D(0)]),
    "decimal_long": (t.DecimalType(38, 10), [D("1234567890123456789012345678.0123456789"), D("0E-10")]),
    "string": (t.StringType(), ["", "a\0b é☃😀"]),
    "binary": (t.BinaryType(), [b"", b"\0\xff"]),
    "date": (t.DateType(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "timestamp": (t.TimestampType(), [dt.datetime(2024, 3, 10, 7, 0, 0, 5), dt.datetime(1970, 1, 1)]),
    "timestamp_ntz": (t.TimestampNTZType(), [dt.datetime(2024, 3, 10, 2, 30, 0, 5), dt.datetime(9999, 12, 31)]),
    "time": (t.TimeType(), [dt.time(0, 0, 0, 1), dt.time(23, 59, 59, 999999)]),
    "interval": (t.DayTimeIntervalType(), [dt.timedelta(days=-400, microseconds=1), dt.timedelta(0)]),
    "void": (t.NullType(), [None, None]),
    "array": (t.ArrayType(t.TimestampType()), [[dt.datetime(2024, 3, 10, 7), None], []]),
    "array_interval": (t.ArrayType(t.DayTimeIntervalType()), [[dt.timedelta(days=-400, microseconds=1), None], []]),
    "array_double": (t.ArrayType(t.DoubleType()), [[0.1, 1e300, float("inf")], []]),
    "array_time": (t.ArrayType(t.TimeType()), [[dt.time(1, 2, 3, 4)], []]),
    "map": (t.MapType(t.IntegerType(), t.BinaryType()), [{1: b"\0", -2: None}, {}]),
    "map_key": (t.MapType(t.StructType([t.StructField("d", t.DecimalType(20, 3))]), t.DateType()), [{(D("1.500"),): dt.date(2024, 1, 1)}, {}]),
    "struct": (t.StructType([t.StructField("x", t.ShortType()), t.StructField("y z", t.ArrayType(t.StringType()))]), [(1, ["q", None]), (None, None)]),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_goes_there_and_back(name: str, spark: SparkSession, tmp_path: Path) -> None:
    kind, values = TYPES[name]
    schema = t.StructType([t.StructField("n", t.IntegerType(), False), t.StructField("c", kind)])
    frame = spark.createDataFrame([*enumerate(values), (2, None)], schema)
    save(frame, tmp_path / "t", table="t")
    save(frame, tmp_path / "t", mode="append", table="t")
    read = spark.read.format("litepress").load(str(tmp_path / "t"))
    assert read.schema["c"].dataType == frame.schema["c"].dataType and not read.schema["n"].nullable
    rows = sorted(read.collect(), key=lambda row: row.n)
    assert rows == [row for row in sorted(frame.collect(), key=lambda row: row.n) for _ in range(2)]
    (schema_text, *_) = shards.open(tmp_path / "t").manifest.schema
    assert "NOT NULL" in schema_text


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("make_ym_interval(1, 2)", "interval year to month"),
        ("array(parse_json('1'))", "variant"),
        ("named_struct('x', 1, 'x', 2)", "struct<x:int,x:int>"),
    ],
)
def test_a_type_without_a_form_is_refused(sql: str, found: str, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="the column c has the type") as told:
        save(spark.range(1).select(f.expr(sql).alias("c")), tmp_path / "t", table="t")
    assert found in str(told.value) and not (tmp_path / "t").exists()


def test_nan_is_no_value_of_sqlite(spark: SparkSession, tmp_path: Path) -> None:
    """SQLite stores NaN as NULL: the rows that came back had another value, and nothing was said."""
    frame = spark.sql("SELECT if(id = 1, NULL, double('NaN')) AS c FROM range(1)")
    with pytest.raises(Exception, match="the column c has a NaN"):
        save(frame, tmp_path / "t", table="t")
    save(frame, tmp_path / "t", table="t", nan="null")
    assert [row.c for row in spark.read.format("litepress").load(str(tmp_path / "t")).collect()] == [None]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_a_query_does_not_change_the_next(setting: str, spark: SparkSession, tmp_path: Path) -> None:
    """Spark keeps filters that a reader took with the DataFrame: a count after a filter gave the rows of the filter."""
    save(users(spark), tmp_path / "user")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", setting)
    read = spark.read.format("litepress").load(str(tmp_path / "user"))
    assert read.where("id = 15000 AND area LIKE 'a%'").count() == 1
    assert read.count() == ROWS
    assert read.where("id < 10").union(read.where("id >= 39980")).count() == 30


def test_sqlite_applies_columns_and_conditions(spark: SparkSession, tmp_path: Path) -> None:
    save(users(spark), tmp_path / "user")
    reader = spark.read.format("litepress").option("columns", "area").option("where", "id < 7 OR id = 15000")
    read = reader.load(str(tmp_path / "user"))
    assert read.columns == ["area"] and read.count() == 8 and read.distinct().count() == 7
    assert spark.read.format("litepress").schema("area string").load(str(tmp_path / "user")).distinct().count() == 7
    with pytest.raises(Exception, match="the set of shards has no column name"):
        spark.read.format("litepress").option("columns", "name").load(str(tmp_path / "user"))


def test_sets_of_other_programs_are_read(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa

    job = shards.begin(tmp_path / "t", primary_key="k")
    job.commit([job.write(0, [pa.record_batch({"k": pa.array([1, 2], pa.uint32()), "s": ["a", None]})])])
    read = spark.read.format("litepress").load(str(tmp_path / "t"))
    assert read.dtypes == [("k", "bigint"), ("s", "string")]
    assert read.where("k = 2 AND s IS NULL").count() == 1


def test_a_stream_is_written_exactly_once(spark: SparkSession, tmp_path: Path) -> None:
    """A query that dies after its commit, and before Spark has noted it, writes the same batch again."""
    source, out, checkpoint = (tmp_path / name for name in ("source", "out", "checkpoint"))

    def run() -> None:
        stream = spark.readStream.schema("id long, area string").parquet(str(source))
        query = stream.writeStream.format("litepress").option("checkpointLocation", str(checkpoint)).option("table", "user").start(str(out))
        query.processAllAvailable()
        query.stop()

    for number in range(3):
        users(spark, first=number * ROWS).coalesce(2).write.mode("append").parquet(str(source))
        run()
        assert_whole(out, rows=(number + 1) * ROWS)
    before = files(out)
    for name in ("2", ".2.crc"):
        (checkpoint / "commits" / name).unlink()
    run()
    assert files(out) == before
    assert_whole(out, rows=3 * ROWS)


def test_an_aborted_batch_of_a_stream_leaves_no_files(spark: SparkSession, tmp_path: Path) -> None:
    """Tasks whose executor was lost send no message, and only messages told `abort` the folder: its files stayed until another commit."""
    from pyspark_litepress._options import Options
    from pyspark_litepress._writing import ShardsStreamWriter

    path = tmp_path / "user"
    save(users(spark), path)
    orphans = path / f"v-{'0' * 32}"
    orphans.mkdir()
    (orphans / "part-00001-0123456789ab.db").write_bytes(b"a file of a task that was killed")
    (path / "notes.txt").write_text("a file of somebody else")
    options = Options.of({"path": str(path), "table": "user", "primaryKey": "id"}, writes=True)
    ShardsStreamWriter(options, users(spark).schema, overwrite=False).abort([None, None], 7)
    (path / "notes.txt").unlink()
    assert_whole(path)
