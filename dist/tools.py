"""Tools that make the artefacts, installed below target/dist-tools, and how they are run."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TOOLS = TARGET / "dist-tools"

# Zig compiles and links C for every Linux, against the oldest glibc that a wheel may ask for. Its release is the newest that
# cargo-zigbuild knows; maturin brings the same cargo-zigbuild, so that both share what was compiled.
PYTHON_TOOLS = ["ziglang==0.17.1", "maturin==1.16.0", "cargo-zigbuild==0.24.0", "auditwheel==6.8.2"]
SBOM_TOOL = "cargo-sbom@0.10.0"


class Skipped(Exception):
    """A step that cannot be done on this machine, with the reason."""


def run(*command, **options):
    """Runs a command, shows it, and fails if it fails."""
    print("+", " ".join(str(part) for part in command), flush=True)
    return subprocess.run([str(part) for part in command], check=True, cwd=options.pop("cwd", ROOT), **options)


def output(*command, **options):
    """Returns what a command prints."""
    return run(*command, stdout=subprocess.PIPE, text=True, **options).stdout


def environment():
    """Returns the environment of builds: the tools come first in PATH, and paths of this machine stay out of the artefacts."""
    found = dict(os.environ)
    found["PATH"] = f"{TOOLS / 'python' / 'bin'}:{TOOLS / 'cargo' / 'bin'}:{found['PATH']}"
    found["CARGO_TARGET_DIR"] = str(TARGET)
    found["SOURCE_DATE_EPOCH"] = str(commit_time())
    return found


def commit_time():
    """Returns the seconds since 1970 of the last commit: the time that every archive states."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else 0


def python_tools():
    """Installs the tools that PyPI has, once."""
    folder = TOOLS / "python"
    if not (folder / "bin" / "maturin").exists():
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON_TOOLS)


def sbom_tool():
    """Installs the tool for the list of components, once."""
    if not (TOOLS / "cargo" / "bin" / "cargo-sbom").exists():
        run("cargo", "install", "--quiet", "--locked", "--root", TOOLS / "cargo", SBOM_TOOL)


def rust_target(triple):
    """Adds the standard library of a target, or says that it cannot be had."""
    if not shutil.which("rustup"):
        raise Skipped(f"there is no rustup to add {triple}")
    if triple in output("rustup", "target", "list", "--installed").split():
        return
    if subprocess.run(["rustup", "target", "add", triple], cwd=ROOT, check=False).returncode != 0:
        raise Skipped(f"the standard library of {triple} cannot be had")


def flags(triple, *more):
    """Returns the environment of a build for a target, with paths of this machine replaced."""
    found = environment()
    home = pathlib.Path(found.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    remaps = [f"--remap-path-prefix={folder}={name}" for folder, name in renamed_folders(home)]
    found[f"CARGO_TARGET_{triple.upper().replace('-', '_')}_RUSTFLAGS"] = " ".join([*remaps, *more])
    return found


def renamed_folders(home):
    """Yields the folders of sources on this machine, and the names that messages give them."""
    yield ROOT, "litepress"
    for registry in sorted((home / "registry" / "src").glob("*")):
        yield registry, "crates"
