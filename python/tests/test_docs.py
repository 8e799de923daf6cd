"""Runs the Python of the README files, and the examples."""

from __future__ import annotations

import datetime as dt
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import litepress
import numpy as np
import pandas as pd
import pytest

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (PROJECT / "python" / "examples").glob("*.py") if not path.name.startswith("test_"))


@pytest.mark.parametrize("name", ["README.md", "python/README.md", "docs/adbc.md", "docs/clusters.md", "docs/tutorials/spark.md"])
def test_the_readme_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    names = {
        "litepress": litepress,
        "frame": pd.DataFrame({"id": [1, 2], "name": ["Ada", "Grace"], "city": ["London", "New York"]}),
        "rows": ({"customer": number % 2 + 1, "at": dt.datetime(2026, 1, number)} for number in range(1, 20)),
        "names": ["a", "b"],
        "values": np.array([0.5, 1.5]),
    }
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)
    if name in ("docs/clusters.md", "docs/tutorials/spark.md"):
        for command in re.findall(r"```sh\n(.*?)```", (PROJECT / name).read_text(encoding="utf-8"), re.DOTALL):
            program = f"litepress() {{ {shlex.quote(sys.executable)} -m litepress \"$@\"; }}\n"
            subprocess.run(["sh", "-e", "-c", program + command], check=True)
    if "database" in names:
        names["database"].close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = runpy.run_path(str(example))
    module["main"](tmp_path)
    assert capsys.readouterr().out.count("\n") >= 2
    assert list(tmp_path.glob("*.db")) + list(tmp_path.glob("*.mbtiles"))
