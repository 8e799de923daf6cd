#!/usr/bin/env python3
"""Installs each artefact of target/dist where there is no Rust, and uses it: `make test-dist`.

The programs run the commands of README.md. A test whose tools cannot be had says so and is skipped.
"""

import contextlib
import functools
import json
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

import roots
from archives import sha256
from build import DIST, VERSION
from tools import ROOT, TOOLS, Skipped

MACHINE = "x86_64"
PROGRAM_BYTES = 25e6
WHEEL_BYTES = 15e6
IMPORT_SECONDS = 0.06
NOT_RUN = ("make", "pip")

PYTHON_EXAMPLE = """
import dataclasses, sqlite3, litepress

@dataclasses.dataclass
class Purchase:
    id: int
    item: str

rows = [Purchase(1, "apple"), Purchase(2, "pear")]
litepress.write("shop.db", {"purchase": rows, "customer": {"id": [1, 2], "name": ["Ada", None]}}, primary_key={"customer": "id"})
litepress.load("lite.db", "examples/lineitem.csv", primary_key=("l_orderkey", "l_linenumber"), without_rowid=True)
with litepress.create("metrics.db", "CREATE TABLE metrics(name TEXT NOT NULL, value REAL NOT NULL)") as db:
    db["metrics"].append(("foo", 1.0))
with open("examples/lineitem.csv") as file:
    lines = sum(1 for _ in file)
for path, table, rows in [("shop.db", "purchase", 2), ("lite.db", "lineitem", lines - 1), ("metrics.db", "metrics", 1)]:
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
    found = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    assert found == rows, (path, found)
assert litepress.__version__ == "VERSION", litepress.__version__
"""


NEEDED_LIBRARIES = """
import io, sys, zipfile
from elftools.elf.elffile import ELFFile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.endswith(".so"):
            for tag in ELFFile(io.BytesIO(wheel.read(name))).get_section_by_name(".dynamic").iter_tags("DT_NEEDED"):
                print(tag.needed)
"""


def artefact(pattern):
    """Returns the artefact whose name fits, or skips the test."""
    found = sorted(DIST.glob(pattern))
    if not found:
        raise unittest.SkipTest(f"there is no {pattern} in {DIST}: make dist makes it")
    return found[0]


@functools.cache
def readme_commands():
    """Returns the commands of README.md for users of the program, with fewer rows."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    commands = [line for line in lines if line and not line.startswith(NOT_RUN)]
    assert len(commands) >= 6, commands
    return "\n".join(commands)


@functools.cache
def install_commands(heading):
    """Returns the blocks of commands of a section of docs/install.md."""
    section = (ROOT / "docs" / "install.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    assert blocks, heading
    return blocks


def put_examples(root):
    """Copies the examples of README.md, with fewer rows."""
    root.put(ROOT / "examples", "home/examples")
    shop = root.folder / "home/examples/shop.sql"
    shop.write_text(shop.read_text().replace("rows=1m", "rows=1k").replace("00k", "00").replace("50k", "50"))


def made(kind):
    """Makes a root file system, or skips the test."""
    try:
        return kind()
    except Skipped as reason:
        raise unittest.SkipTest(str(reason)) from None


class InRoot(unittest.TestCase):
    """A test with a root file system of its own."""

    def root(self, kind):
        root = made(kind)
        self.addCleanup(shutil.rmtree, root.folder, ignore_errors=True)
        return root

    def put(self, root, *patterns):
        """Copies artefacts into the folder where commands run."""
        for pattern in patterns:
            path = artefact(pattern)
            root.put(path, f"home/{path.name}")

    def first_page(self, root, installation):
        """Installs by commands of docs/install.md, runs the commands of README.md, and checks what they made."""
        put_examples(root)
        self.assertNotIn("cargo", root.run("ls /usr/bin /bin"))
        shown = root.run(f"{installation}\n{readme_commands()}\nlitepress --version")
        self.assertIn(f"litepress {VERSION} (SQLite", shown)
        for name in ("shop.db", "large.db", "lite.db"):
            self.assertTrue((root.folder / "home" / name).exists(), name)


class Program(InRoot):
    """The program, in every form."""

    def test_tarball_in_an_empty_folder(self):
        root = self.root(roots.empty)
        self.put(root, f"litepress-{VERSION}-{MACHINE}-linux.tar.gz")
        self.first_page(root, install_commands("Program")[0])
        share = root.folder / "home" / f"litepress-{VERSION}-{MACHINE}-linux" / "share"
        self.assertIn("litepress", (share / "bash-completion/completions/litepress").read_text())
        self.assertIn(".TH", (share / "man/man1/litepress-load.1").read_text())
        self.assertIn("libsqlite3-sys", (share / "doc/litepress/THIRD-PARTY.txt").read_text())

    def test_debian_package(self):
        root = self.root(roots.debian)
        self.put(root, f"litepress_{VERSION}_amd64.deb")
        self.first_page(root, install_commands("Debian and Ubuntu")[0])
        root.run("dpkg -r litepress; test ! -e /usr/bin/litepress")

    def test_size_and_start(self):
        packed = artefact(f"litepress-{VERSION}-{MACHINE}-linux.tar.gz")
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(packed) as tar:
                tar.extractall(folder, filter="data")
            program = next(Path(folder).glob("*/bin/litepress"))
            self.assertLess(program.stat().st_size, PROGRAM_BYTES)
            Path(folder, "one.csv").write_text("id,name\n1,Ada\n")
            start = seconds([program, "--version"])
            load = seconds([program, "load", "one.db", "one.csv", "--overwrite", "--quiet"], cwd=folder)
            print(f"program: {program.stat().st_size / 1e6:.1f} MB, --version {start * 1e3:.1f} ms, load of a row {load * 1e3:.1f} ms")
            self.assertLess(start, 0.05)
            self.assertLess(load, 0.25)

    def test_no_paths_of_the_machine(self):
        packed = artefact(f"litepress-{VERSION}-{MACHINE}-linux.tar.gz")
        with tarfile.open(packed) as tar:
            program = tar.extractfile(f"litepress-{VERSION}-{MACHINE}-linux/bin/litepress").read()
        for path in (str(ROOT), str(Path.home() / ".cargo")):
            self.assertNotIn(path.encode(), program)

    def test_other_processor(self):
        packed = artefact(f"litepress-{VERSION}-aarch64-linux.tar.gz")
        emulator = shutil.which("qemu-aarch64-static")
        if not emulator:
            raise unittest.SkipTest("qemu-aarch64-static is not installed")
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(packed) as tar:
                tar.extractall(folder, filter="data")
            program = next(Path(folder).glob("*/bin/litepress"))
            Path(folder, "one.csv").write_text("id,name\n1,Ada\n")
            subprocess.run([emulator, program, "load", "one.db", "one.csv"], cwd=folder, check=True)
            subprocess.run([emulator, program, "check", "one.db"], cwd=folder, check=True)


def seconds(command, **options):
    """Returns the median time of a command."""
    times = []
    for _ in range(9):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


class Wheel(InRoot):
    """The wheels."""

    def test_wheel_in_a_fresh_environment(self):
        wheel = artefact(f"litepress-{VERSION}-*manylinux*_{MACHINE}.whl")
        self.assertLess(wheel.stat().st_size, WHEEL_BYTES)
        root = self.root(roots.debian)
        self.put(root, wheel.name)
        self.first_page(root, install_commands("Python")[0])
        path = "/home/env/bin:/usr/bin:/bin"
        root.run("rm *.db")
        (root.folder / "home" / "example.py").write_text(PYTHON_EXAMPLE.replace("VERSION", VERSION))
        root.run("python example.py", PATH=path)
        taken = statistics.median(import_seconds(root, path) for _ in range(9))
        print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB, import {taken * 1e3:.1f} ms")
        self.assertLess(taken, IMPORT_SECONDS)

    def test_wheels_ask_for_no_more_than_they_say(self):
        tools = TOOLS / "python" / "bin"
        wheel = artefact(f"litepress-{VERSION}-*manylinux_2_17*_{MACHINE}.whl")
        shown = subprocess.run([tools / "auditwheel", "show", wheel], capture_output=True, text=True, check=True).stdout
        self.assertRegex(" ".join(shown.split()), rf'consistent with the following platform tag: "manylinux_2_17_{MACHINE}"')
        # auditwheel looks into the libraries of this machine, and finds no musl on one with glibc.
        wheel = artefact(f"litepress-{VERSION}-*musllinux_1_2*_{MACHINE}.whl")
        shown = subprocess.run([tools / "python", "-c", NEEDED_LIBRARIES, wheel], capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown.split(), ["libc.so"])


def import_seconds(root, path):
    """Returns the time that `import litepress` takes, as Python measures it."""
    shown = root.run("python -X importtime -c 'import litepress' 2>&1", PATH=path)
    return int(re.search(r"\|\s*(\d+) \| litepress$", shown, re.MULTILINE)[1]) / 1e6


class Library(InRoot):
    """The C library and the Ruby package over it."""

    def simulate(self, root, commands):
        """Installs, compiles and runs the simulator by commands of docs/install.md."""
        self.assertIn("100000 rows", root.run(commands))
        self.assertEqual(root.run("sqlite3 steps.db 'SELECT count(*) FROM step; PRAGMA integrity_check'"), "100000\nok\n")

    def test_tarball(self):
        root = self.root(roots.debian)
        self.put(root, f"liblitepress-{VERSION}-{MACHINE}-linux-gnu.tar.gz")
        self.simulate(root, install_commands("C and C++")[0])

    def test_debian_packages(self):
        root = self.root(roots.debian)
        self.put(root, f"liblitepress0_{VERSION}_amd64.deb", f"liblitepress-dev_{VERSION}_amd64.deb")
        self.simulate(root, install_commands("C and C++")[1])

    def test_gem_that_brings_the_library(self):
        root = self.root(roots.debian)
        self.put(root, f"litepress-{VERSION}-{MACHINE}-linux.gem")
        root.run(install_commands("Ruby")[0])
        root.put(ROOT / "ruby/examples/metrics.rb", "home/metrics.rb")
        root.run("ruby metrics.rb metrics.db")
        self.assertEqual(root.run("sqlite3 metrics.db 'SELECT count(*) FROM metrics'"), "500000\n")


class Node(unittest.TestCase):
    """The package for Node.js, in a folder of its own: npm and node are those of this machine."""

    def test_package(self):
        """package.json named a folder that does not exist, and no package was made."""
        package = artefact(f"litepress-{VERSION}-node-{MACHINE}-linux-gnu.tgz")
        if not shutil.which("npm"):
            raise unittest.SkipTest("there is no npm")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(package, folder)
            for commands in install_commands("Node.js"):
                subprocess.run(["/bin/sh", "-ec", commands], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            with contextlib.closing(sqlite3.connect(Path(folder, "m.db"))) as database:
                self.assertEqual(database.execute("SELECT a FROM m").fetchall(), [(1,)])


class Papers(unittest.TestCase):
    """Papers that come with the artefacts."""

    def test_checksums(self):
        sums = artefact("SHA256SUMS").read_text().splitlines()
        self.assertEqual(len(sums), sum(path.name != "SHA256SUMS" for path in DIST.iterdir() if path.is_file()))
        for line in sums:
            checksum, name = line.split("  ")
            self.assertEqual(sha256(DIST / name), checksum, name)

    def test_components(self):
        found = json.loads(artefact(f"litepress-cli-{VERSION}.cdx.json").read_text())
        self.assertEqual(found["bomFormat"], "CycloneDX")
        names = {component["name"] for component in found["components"]}
        self.assertLessEqual({"libsqlite3-sys", "parquet", "clap"}, names)

    def test_crates_name_no_folder(self):
        crate = artefact(f"litepress-cli-{VERSION}.crate")
        with tarfile.open(crate) as tar:
            manifest = tar.extractfile(f"litepress-cli-{VERSION}/Cargo.toml").read().decode()
        dependencies = manifest.split("[dependencies", 1)[1]
        self.assertNotIn("path = \"..", dependencies)
        self.assertIn("litepress-gen", dependencies)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    unittest.main(verbosity=2)
