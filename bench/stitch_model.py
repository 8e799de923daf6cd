"""What bounds a database of 1 TB that 100 tasks print: the plan of the real upload, over links of given speeds.

    python3 bench/stitch_model.py [--bytes 1e12] [--tasks 100]

Sizes are those of a part of `user` (docs/parts.md); speeds are assumptions, printed with the result. Every request takes the share of its
link that the others leave: a link serves its requests in turn, which gives the same total.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
GB = 10**9
#: Leaves of a page of 4096 bytes a level above: 12 bytes a child.
CHILDREN = 340


def planner() -> types.ModuleType:
    """Loads the planner of uploads without the extension."""
    package = types.ModuleType("litepress")
    package.__path__ = [str(REPOSITORY / "python" / "litepress")]
    sys.modules["litepress"] = package
    for name, names in (("_litepress", ()), ("_errors", ("FileError", "TargetExistsError", "UsageError")), ("_result", ("Summary",))):
        module = types.ModuleType(f"litepress.{name}")
        for one in names:
            setattr(module, one, Exception)
        sys.modules[f"litepress.{name}"] = module
        setattr(package, name, module)
    spec = importlib.util.spec_from_file_location("litepress._multipart", REPOSITORY / "python" / "litepress" / "_multipart.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def model(total: int, tasks: int, index_share: float, speeds: dict[str, float]) -> list[tuple[str, float, str]]:
    """Returns the steps: name, seconds, and what bounds each."""
    multipart = planner()
    index = int(total * index_share)
    table = total - index
    of_task = table // tasks // 4096 * 4096
    interior = table // CHILDREN
    directory = table // 4096 * 4
    copies, to = [], 4096
    for task in range(tasks):
        copies.append([task, 4096, to, of_task])
        to += of_task
    size = to + interior + index
    planned = multipart.plan_upload(multipart.pieces_of(copies, size), size)
    copied = [pieces[0].bytes for pieces in planned if multipart.is_copied(pieces)]
    sent = [pieces for pieces in planned if not multipart.is_copied(pieces)]
    sent_bytes = sum(piece.bytes for pieces in sent for piece in pieces)
    fetched = sum(piece.bytes for pieces in sent for piece in pieces if piece.part is not None) + directory + index
    assert len(planned) <= multipart.MOST_PARTS
    printed, entries = total / tasks, index / 20
    copying = max(sum(copied) / (speeds["copy"] * multipart.COPIED_AT_ONCE), max(copied, default=0) / speeds["copy"])
    return [
        ("print a part", printed / speeds["print"], f"{printed / GB:.1f} GB a task at {speeds['print'] / GB:.2g} GB/s"),
        ("upload a part", printed / speeds["task link"], f"the link of a task: {speeds['task link'] / GB:.2g} GB/s"),
        ("download directories and entries", fetched / speeds["driver link"], f"{fetched / GB:.1f} GB; the link of the stitcher: {speeds['driver link'] / GB:.2g} GB/s"),
        ("merge entries", 2 * entries * speeds["entry"] / speeds["cores"], f"{entries / 1e9:.1f} billion entries, stored and merged, {speeds['entry'] * 1e9:.0f} ns each on {speeds['cores']:.0f} cores"),
        ("let the store copy", copying, f"{len(copied)} copies, {sum(copied) / GB:.0f} GB, {multipart.COPIED_AT_ONCE} at a time at {speeds['copy'] / GB:.2g} GB/s"),
        ("upload the rest", sent_bytes / speeds["driver link"], f"{len(sent)} requests, {sent_bytes / GB:.1f} GB; the link of the stitcher"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=float, default=1e12, help="bytes of the database")
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--print", type=float, default=0.5e9, help="bytes a second that a task prints, with its rows made or read")
    parser.add_argument("--task-link", type=float, default=0.3e9, help="bytes a second from a task to the store")
    parser.add_argument("--driver-link", type=float, default=1.2e9, help="bytes a second between the stitcher and the store")
    parser.add_argument("--copy", type=float, default=0.15e9, help="bytes a second of one UploadPartCopy")
    parser.add_argument("--entry", type=float, default=100e-9, help="seconds of a core for an entry of an index")
    parser.add_argument("--cores", type=float, default=16)
    given = parser.parse_args()
    speeds = {"print": given.print, "task link": given.task_link, "driver link": given.driver_link, "copy": given.copy, "entry": given.entry, "cores": given.cores}
    for share, title in ((0.0, "no index"), (0.3, "indexes: 30 % of the bytes")):
        steps = model(int(given.bytes), given.tasks, share, speeds)
        print(f"\n| {given.bytes / 1e12:g} TB, {given.tasks} tasks, {title} | s | bound by |\n|---|---|---|")
        for name, seconds, why in steps:
            print(f"| {name} | {seconds:,.0f} | {why} |")
        print(f"| together | {sum(seconds for _, seconds, _ in steps):,.0f} | |")


if __name__ == "__main__":
    main()
