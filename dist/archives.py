"""Archives whose bytes follow from their contents alone: tar.gz, and Debian packages."""

import gzip
import hashlib
import shutil
import tarfile

from tools import Skipped, commit_time, environment, run


def tarball(folder, archive):
    """Packs a folder, under its own name."""
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, commit_time()) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in [folder, *sorted(folder.rglob("*"))]:
                tar.add(path, path.relative_to(folder.parent), recursive=False, filter=without_owner)
    return archive


def without_owner(entry):
    """Gives an entry of an archive the same owner, rights and time on every machine."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mtime = commit_time()
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def debian_package(folder, archive, control):
    """Packs a folder whose contents are installed as they stand. `control` has the fields of the package."""
    if not shutil.which("dpkg-deb"):
        raise Skipped("there is no dpkg-deb")
    for page in folder.glob("usr/share/man/**/*.1"):
        page.with_name(page.name + ".gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        page.unlink()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    size = sum(path.stat().st_size for path in files)
    sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files)
    fields = {**control, "Installed-Size": str(size // 1024 + 1)}
    description = fields.pop("Description")
    (folder / "DEBIAN").mkdir()
    lines = [f"{name}: {value}" for name, value in fields.items()]
    (folder / "DEBIAN" / "control").write_text("\n".join([*lines, f"Description: {description}"]) + "\n")
    (folder / "DEBIAN" / "md5sums").write_text(sums)
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", folder, archive, env=environment())
    return archive


def checksums(folder):
    """Writes SHA256SUMS, as `sha256sum --check` reads it."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{sha256(path)}  {path.name}\n" for path in paths]
    (folder / "SHA256SUMS").write_text("".join(lines))
    return folder / "SHA256SUMS"


def sha256(path):
    """Returns the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
