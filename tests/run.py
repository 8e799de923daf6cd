#!/usr/bin/env python3
"""Runs the tests in Rust, two test programs at a time: `make test`. `cargo test --workspace` runs the same ones, one after another.

Many tests wait, for syncs, for processes, for clocks, and the last tests of each program leave processors idle. The output of a program
comes when the program ends.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import time

CARGO = os.environ.get("CARGO", "cargo")
AT_ONCE = 2
# The longest programs, which begin first.
LONGEST = ["conformance", "program", "engine", "faults", "litepress_gen"]


def compiled():
    """Compiles all tests. Yields the name of each test program, its path, and the folder of its package."""
    command = [CARGO, "test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            message = json.loads(line)
            if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
                yield message["target"]["name"], message["executable"], os.path.dirname(message["manifest_path"])
    if process.returncode:
        raise SystemExit(process.returncode)


def run(name, command, folder):
    """Runs a test program, and returns what to show of it, and whether its tests passed."""
    begun = time.monotonic()
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    outcome = "passed" if done.returncode == 0 else f"FAILED, exit code {done.returncode}"
    return f"{done.stdout}[{time.monotonic() - begun:.0f} s] {name}: {outcome}\n", done.returncode == 0


def main():
    """Runs all tests, and fails if one failed."""
    programs = sorted(compiled(), key=lambda program: LONGEST.index(program[0]) if program[0] in LONGEST else len(LONGEST))
    if not programs:
        raise SystemExit("no test was compiled")
    documents = [CARGO, "test", "--workspace", "--locked", "--doc"]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        running = {threads.submit(run, name, [path], folder): name for name, path, folder in programs}
        running[threads.submit(run, "examples in documentation", documents, None)] = "examples in documentation"
        for done in concurrent.futures.as_completed(running):
            shown, passed = done.result()
            print(shown, end="", flush=True)
            failed += [] if passed else [running[done]]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    sys.exit(main())
