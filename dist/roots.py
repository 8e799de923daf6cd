"""Empty folders that stand in for machines without Rust: a root file system with busybox alone, and one of Debian."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from tools import TARGET, Skipped, run

ROOTS = TARGET / "dist-roots"
DEBIAN = "bookworm"
PACKAGES = "python3-venv,ruby,gcc,g++,libc6-dev,make,pkg-config,cmake,sqlite3"


class Root:
    """A root file system in which commands run as on a machine of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "home").mkdir(exist_ok=True)

    def put(self, path, place):
        """Copies a file or a folder to a place in it, and returns the place."""
        target = self.folder / place
        if path.is_dir():
            shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        return f"/{place}"

    def run(self, command, **variables):
        """Runs a shell command in the folder /home, and returns what it prints. Fails if it fails."""
        settings = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home", "LC_ALL": "C.UTF-8", **variables}
        given = [f"{name}={value}" for name, value in settings.items()]
        shell = ["chroot", str(self.folder), "/usr/bin/env", "-i", *given, "/bin/sh", "-ec", f"cd /home; {command}"]
        done = subprocess.run(shell, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


def need_root():
    """Refuses users that may not change the root folder."""
    if os.geteuid() != 0:
        raise Skipped("only root may change into another root folder")


def empty():
    """Makes a root with a shell and nothing else: no libraries, no /proc, no /dev."""
    need_root()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="litepress-empty-"))
    for name in ("bin", "usr/bin", "usr/local", "tmp"):
        (folder / name).mkdir(parents=True)
    shutil.copy(busybox(), folder / "bin" / "busybox")
    for name in ("sh", "ls", "cat", "tar", "gunzip"):
        (folder / "bin" / name).symlink_to("busybox")
    (folder / "usr" / "bin" / "env").symlink_to("/bin/busybox")
    return Root(folder)


def busybox():
    """Returns a static busybox, which Debian packs."""
    found = ROOTS / "busybox" / "bin" / "busybox"
    if not found.exists():
        (ROOTS / "busybox").mkdir(parents=True, exist_ok=True)
        try:
            run("apt-get", "download", "--quiet", "busybox-static", cwd=ROOTS)
        except (OSError, subprocess.CalledProcessError):
            raise Skipped("busybox-static cannot be had") from None
        run("dpkg-deb", "-x", next(ROOTS.glob("busybox-static_*.deb")), ROOTS / "busybox")
    return found


def debian():
    """Makes a root with Debian, Python, Ruby and a C compiler. It is downloaded once, and a copy is used."""
    need_root()
    pristine = ROOTS / DEBIAN
    if not (pristine / "complete").exists():
        if not shutil.which("debootstrap"):
            subprocess.run(["apt-get", "install", "-y", "-qq", "debootstrap"], check=False)
        shutil.rmtree(pristine, ignore_errors=True)
        pristine.mkdir(parents=True)
        try:
            run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", DEBIAN, pristine)
        except (OSError, subprocess.CalledProcessError):
            raise Skipped("Debian cannot be had") from None
        shutil.rmtree(pristine / "var" / "cache" / "apt", ignore_errors=True)
        (pristine / "complete").touch()
    folder = tempfile.mkdtemp(prefix="litepress-debian-", dir=ROOTS)
    # Hard links save the copy: programs make new files, and dpkg replaces the files that it changes.
    run("cp", "-al", f"{pristine}/.", folder)
    return Root(folder)
