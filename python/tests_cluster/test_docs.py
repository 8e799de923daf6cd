"""The page about clusters runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"^```(?:py|text)\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("engine", ["ray", "dask"])
def test_the_examples_run(engine: str, tmp_path: Path) -> None:
    pytest.importorskip(engine)
    (block,) = [block for block in blocks("clusters.md") if f"import litepress.{engine}" in block]
    lines = block.strip().splitlines()
    lines[-1] = f"print(int({lines[-1]}))"
    # Workers of Dask's processes import the script.
    (tmp_path / "example.py").write_text("\n".join(lines))
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[-1] == {"ray": "100", "dask": str(20_000 * 19_999 // 2)}[engine]


@pytest.mark.parametrize("page", ["clusters.md", "tutorials/spark.md"])
def test_the_commands_of_spark_run(page: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    (block,) = [block for block in blocks(page) if "df.write.format" in block]
    lines = [
        "import os, sys",
        "os.environ['PYSPARK_PYTHON'] = sys.executable",
        "from pyspark.sql import SparkSession",
        "spark = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false').config('spark.driver.host', '127.0.0.1').getOrCreate()",
        "df = spark.range(1000).selectExpr('id', 'id % 7 AS area', 'id % 90 AS age', 'id % 2 AS active')",
        *block.replace("/data/user", str(tmp_path / "user")).strip().splitlines(),
    ]
    last = lines[-1].removesuffix(".count()")
    lines[-1] = f"print(({last}).count())"
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout.split()[-1] == "1000", done.stderr[-2000:]
