"""Toolchains of the benchmarks: finds or installs the programs of a language, and builds the benchmarks with them.

`ready(name)` prepares a toolchain once a run, and raises `Missing` with the reason if it cannot: its benchmarks are skipped
with a message. Packages come from the registries (Debian's packages only as root); programs are built in `target/suite`.
"""

import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
import threading
from collections.abc import Callable

import python
import competitors
from measure import ROOT, TARGET, UNOPTIMIZED

BUILT = ROOT / "target" / "suite"
PROGRAMS = ROOT / "bench" / "programs"


class Missing(Exception):
    """A toolchain is missing; the message is the reason."""


@dataclasses.dataclass(frozen=True)
class Toolchain:
    bring: Callable[[], None]
    """Installs and builds the missing parts; raises `Missing`."""
    version: Callable[[], str]
    programs: tuple[str, ...] = ()
    """Programs that must be on the machine."""


def run(*command, **options):
    """Runs a step of an installation, and returns its output; raises `Missing` with its last line."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except OSError as error:
        raise Missing(f"{command[0]} does not start: {error.strerror}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        failed = f"`{' '.join(command)}` failed: {said[-1] if said else done.returncode}"
        raise Missing(failed.replace(f"{ROOT}/", ""))
    return done.stdout


DEBIAN = ("Rscript", "gcc", "mvn", "pypy3", "ruby", "sqlite3")
"""Programs that `debian` installs."""


_INSTALLING = threading.Lock()


def one_at_a_time(install):
    """Makes installers wait for each other: apt-get, and pip in one environment, do not run twice at the same time."""
    @functools.wraps(install)
    def alone(*arguments):
        with _INSTALLING:
            return install(*arguments)

    return alone


def may_install():
    return shutil.which("apt-get") and os.geteuid() == 0


@one_at_a_time
def debian(program, *packages):
    """Installs Debian's packages of a program, if it is missing and we are root."""
    if shutil.which(program):
        return
    if not may_install():
        raise Missing(f"{program} is not installed: Debian's packages {', '.join(packages)} have it")
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)


def found(program):
    if not shutil.which(program):
        raise Missing(f"{program} is not installed")


def first_line(*command, **options):
    return run(*command, **options).splitlines()[0]


def listed(versions):
    return ", ".join(f"{name} {version}" for name, version in versions.items())


PROFILE = () if UNOPTIMIZED else ("--release",)
OPTIMIZE_C = "-O0" if UNOPTIMIZED else "-O2"
"""For programs in C, which contain SQLite. Each language compiles it anew: optimized, that takes a minute."""


APART = BUILT / "crates"
"""The target folder of the crates outside the workspaces, which have dependencies in common."""


def cargo(name):
    """Returns the toolchain of a crate outside the workspaces: only its own benchmarks compile its dependencies."""
    def bring():
        profile = PROFILE or ("--config", "profile.dev.debug=false")
        place = ("--manifest-path", PROGRAMS / name / "Cargo.toml", "--target-dir", APART)
        run("cargo", "build", "--locked", *profile, *place)

    return Toolchain(bring, lambda: first_line("cargo", "--version"), ("cargo",))


def built_apart(program):
    """Returns the program of a crate outside the workspaces."""
    return APART / ("debug" if UNOPTIMIZED else "release") / program


def go(name):
    def bring():
        found("go")
        flags = {"CGO_CFLAGS": OPTIMIZE_C}
        run("go", "build", "-o", BUILT / f"go-{name}", ".", cwd=PROGRAMS / "go" / name, env=os.environ | flags)

    return Toolchain(bring, lambda: first_line("go", "version"), ("go",))


def workspace(folder, *chosen):
    """Returns the toolchain of the main workspace, or of the one of the benches."""
    def bring():
        run("cargo", "build", *PROFILE, "--locked", *chosen, cwd=folder)

    return Toolchain(bring, lambda: first_line("rustc", "--version"), ("cargo",))


def ruby():
    debian("ruby", "ruby", "ruby-sqlite3")
    run("ruby", "-r", "sqlite3", "-e", "")


def ruby_version():
    gem = 'puts "ruby #{RUBY_VERSION}, sqlite3 #{SQLite3::VERSION}, SQLite #{SQLite3::SQLITE_VERSION}"'
    return first_line("ruby", "-r", "sqlite3", "-e", gem)


def node():
    """Installs packages under `target`, and copies the program beside them.

    The native code of better-sqlite3 is compiled if no binary can be fetched, with the headers of the installed Node.
    """
    found("node")
    found("npm")
    source, folder = PROGRAMS / "node", BUILT / "node"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "user.mjs", folder)
    lock = folder / "package-lock.json"
    if lock.exists() and lock.read_bytes() == (source / lock.name).read_bytes() and loads(folder):
        return
    for name in ("package.json", lock.name):
        shutil.copy(source / name, folder)
    prefix = pathlib.Path(run("node", "--print", "process.execPath").strip()).parent.parent
    headers = {"npm_config_nodedir": str(prefix)} if (prefix / "include" / "node" / "node.h").exists() else {}
    flags = {"CFLAGS": "-O0", "CXXFLAGS": "-O0"} if UNOPTIMIZED else {}
    run("npm", "ci", "--no-audit", "--no-fund", "--logs-max=0", cwd=folder, env=os.environ | headers | flags)
    if not loads(folder):
        raise Missing("better-sqlite3 is installed, but does not load")


def loads(folder):
    """Returns whether better-sqlite3 works with the installed Node: its native code fits one version."""
    script = "require('better-sqlite3')(':memory:')"
    return subprocess.run(["node", "-e", script], cwd=folder, capture_output=True, check=False).returncode == 0


def node_version():
    script = "process.version + ', better-sqlite3 ' + require('better-sqlite3/package.json').version"
    return first_line("node", "--print", script, cwd=BUILT / "node")


def java():
    debian("mvn", "maven", "default-jdk-headless")
    run("mvn", "-q", "-B", f"-Dbuilt={BUILT / 'java'}", "compile", cwd=PROGRAMS / "java")


def java_version():
    return ", ".join([first_line("java", "--version"), *(jar.stem for jar in (BUILT / "java" / "lib").glob("*.jar"))])


TESTED_PYTHON = ROOT / "target" / "python-venv" / "bin" / "python"
"""The interpreter of `make test-python`, with the package and everything that its tests compare it with."""


def package_python():
    """Returns the interpreter that has litepress, pandas, polars, pyarrow and ADBC."""
    return TESTED_PYTHON if TESTED_PYTHON.exists() else competitors.PYTHON


@one_at_a_time
def python_package():
    """Installs the package of this checkout: cargo compiles changes since the last time."""
    if TESTED_PYTHON.exists():
        run(TESTED_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", ROOT / "python")
    else:
        python.install()


# The packages of litepress for other languages.

C_LIBRARY = BUILT / "c-library"
"""The folder of the C library, under the names with which `make install-c` installs it."""


def c_library():
    """Builds the C library."""
    run("cargo", "build", *PROFILE, "--locked", "-p", "litepress-c", cwd=ROOT)
    C_LIBRARY.mkdir(parents=True, exist_ok=True)
    for name in ("liblitepress.so", "liblitepress.so.0"):
        (C_LIBRARY / name).unlink(missing_ok=True)
        (C_LIBRARY / name).symlink_to(TARGET / "liblitepress_c.so")


def go_litepress():
    found("go")
    c_library()
    flags = {
        "CGO_ENABLED": "1", "CGO_CFLAGS": f"-O2 -I{ROOT / 'crates' / 'c' / 'include'}",
        "CGO_LDFLAGS": f"-L{C_LIBRARY} -Wl,-rpath,{C_LIBRARY}",
    }  # fmt: skip
    run("go", "build", "-o", BUILT / "go-litepress", ".", cwd=PROGRAMS / "go" / "litepress", env=os.environ | flags)


def ruby_litepress():
    debian("ruby", "ruby")
    c_library()


def node_litepress():
    found("node")
    run("cargo", "build", *PROFILE, "--locked", "-p", "litepress-node", cwd=ROOT)


def java_litepress():
    debian("mvn", "maven", "default-jdk-headless")
    debian("gcc", "gcc", "libc6-dev")
    c_library()
    built = BUILT / "java-litepress"
    run(ROOT / "java" / "build.sh", C_LIBRARY / "liblitepress.so.0", built)
    run("javac", "-cp", built / "litepress.jar", "-d", built, PROGRAMS / "java-litepress" / "UserPress.java")


def r():
    debian("Rscript", "r-base-core", "r-cran-rsqlite")
    run("Rscript", "-e", "library(RSQLite)")


def r_litepress():
    """Installs the R package under `target`. R compiles in the folder of its sources, so that they are copied."""
    debian("Rscript", "r-base-core", "r-cran-rsqlite")
    c_library()
    built = BUILT / "r-litepress"
    shutil.copytree(ROOT / "r", built / "source", dirs_exist_ok=True)
    (built / "library").mkdir(exist_ok=True)
    flags = {
        "LITEPRESS_CFLAGS": f"-I{ROOT / 'crates' / 'c' / 'include'}", "LITEPRESS_LIBS": f"-L{C_LIBRARY} -Wl,-rpath,{C_LIBRARY}",
    }  # fmt: skip
    run("R", "CMD", "INSTALL", "-l", built / "library", built / "source", env=os.environ | flags)


def bundled_sqlite():
    """Returns the folder of the sources of the bundled SQLite, which is part of a crate."""
    meta = json.loads(run("cargo", "metadata", "--format-version", "1", "--locked", cwd=ROOT))
    [manifest] = [one["manifest_path"] for one in meta["packages"] if one["name"] == "libsqlite3-sys"]
    return pathlib.Path(manifest).parent / "sqlite3"


def c(*names):
    """Returns the toolchain of the C programs, linked with the bundled SQLite, with carray() enabled."""
    folder, built = PROGRAMS / "c", BUILT / "c"

    def bring():
        debian("gcc", "gcc", "libc6-dev")
        built.mkdir(parents=True, exist_ok=True)
        sources = bundled_sqlite()
        compile_c = ("gcc", OPTIMIZE_C, "-DSQLITE_ENABLE_CARRAY")
        # It takes a minute, once for each version, which is part of the name.
        library = built / f"{sources.parent.name}{OPTIMIZE_C}.o"
        if not library.exists():
            unfinished = library.with_suffix(".unfinished")
            run(*compile_c, "-c", sources / "sqlite3.c", "-o", unfinished)
            unfinished.rename(library)
        strict = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-isystem", sources)
        for name in names:
            run(*compile_c, *strict, folder / f"{name}.c", folder / "harness.c", library, "-lm", "-o", built / name)

    return Toolchain(bring, lambda: first_line("gcc", "--version"), ("gcc",))


TOOLCHAINS = {
    "c": c("integers", "texts", "user"),
    "rust": workspace(ROOT / "bench"),
    "litepress": workspace(ROOT, "-p", "litepress-cli"),
    "sqlx": cargo("sqlx"),
    "turso": cargo("turso"),
    "go-cgo": go("cgo"),
    "go-pure": go("pure"),
    "cpython": Toolchain(lambda: None, lambda: first_line("python3", "--version")),
    "pypy": Toolchain(
        lambda: debian("pypy3", "pypy3"), lambda: run("pypy3", "--version").replace("\n", " ").strip(), ("pypy3",)
    ),
    "ruby": Toolchain(ruby, ruby_version, ("ruby",)),
    "sqlite3": Toolchain(
        lambda: debian("sqlite3", "sqlite3"), lambda: first_line("sqlite3", "--version").split()[0], ("sqlite3",)
    ),
    "python-competitors": Toolchain(one_at_a_time(competitors.install), lambda: listed(competitors.versions())),
    "python-package": Toolchain(
        python_package, lambda: listed(competitors.versions(["litepress", *python.PACKAGES], package_python()))
    ),
    "node": Toolchain(node, node_version, ("node", "npm")),
    "java": Toolchain(java, java_version, ("mvn",)),
    "go-litepress": Toolchain(go_litepress, lambda: first_line("go", "version"), ("go", "gcc")),
    "r": Toolchain(r, lambda: run("Rscript", "-e", "cat(R.version.string)"), ("Rscript",)),
    "r-litepress": Toolchain(r_litepress, lambda: run("Rscript", "-e", "cat(R.version.string)"), ("Rscript", "gcc")),
    "ruby-litepress": Toolchain(ruby_litepress, lambda: first_line("ruby", "--version"), ("ruby",)),
    "node-litepress": Toolchain(node_litepress, lambda: first_line("node", "--version"), ("node",)),
    "java-litepress": Toolchain(java_litepress, lambda: first_line("java", "--version"), ("mvn", "gcc")),
}


@functools.cache
def _outcome(name):
    """Prepares a toolchain; returns the reason if it is missing. Code of the other benches raises `SystemExit`."""
    try:
        TOOLCHAINS[name].bring()
    except Missing as why:
        return why
    except (SystemExit, OSError, subprocess.CalledProcessError) as why:
        return Missing(str(why))
    return None


def ready(name):
    """Prepares a toolchain; raises `Missing` at every call if it cannot."""
    if why := _outcome(name):
        raise why


def lacking(name):
    """Returns what is missing, as far as known without installing anything, or an empty text."""
    brought = DEBIAN if may_install() else ()
    missing = [program for program in TOOLCHAINS[name].programs if not shutil.which(program) and program not in brought]
    return f"{', '.join(missing)} not installed" if missing else ""


def version(name):
    """Returns the version of a ready toolchain, or `None` if it is unknown."""
    try:
        return TOOLCHAINS[name].version()
    except Missing:
        return None


def binary(name):
    """Returns the path of litepress, or of a program of the bench crate."""
    return TARGET / name
