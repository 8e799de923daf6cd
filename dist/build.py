#!/usr/bin/env python3
"""Builds everything that a release needs, in target/dist: `make dist`.

    dist/build.py                              all artefacts, for x86-64
    dist/build.py --arch aarch64               for another processor, cross-compiled
    dist/build.py --only program,debian        some of them

A step whose tools cannot be had on this machine is skipped aloud; any other failure ends the run. The version stands in Cargo.toml.
Programs and wheels of one processor are compiled twice: with musl (static) and with glibc (shared libraries).
"""

import argparse
import json
import os
import re
import shutil
import sys

import licences
from archives import checksums, debian_package, tarball
from tools import ROOT, TARGET, Skipped, environment, flags, output, python_tools, run, rust_target, sbom_tool

DIST = TARGET / "dist"
WORK = TARGET / "dist-work"
VERSION = re.search(r'(?m)^version = "(.+)"', (ROOT / "Cargo.toml").read_text())[1]
SUMMARY = "fastest safe way to make SQLite databases"
GLIBC = "2.17"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
NODE = {"x86_64": "x64", "aarch64": "arm64"}
SHELLS = {
    "bash": "share/bash-completion/completions/litepress",
    "zsh": "share/zsh/vendor-completions/_litepress",
    "fish": "share/fish/vendor_completions.d/litepress.fish",
}
DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]


def program(arch):
    """Builds the static program, with completions, manual pages and examples, as a folder that is its own prefix."""
    built = static_program(arch)
    prefix = fresh(f"litepress-{VERSION}-{arch}-linux")
    install(built, prefix / "bin" / "litepress", 0o755)
    # The pages are the same for every processor: a program of this machine writes them.
    native = built if arch == os.uname().machine else static_program(os.uname().machine)
    run(native, "man", prefix / "share" / "man" / "man1")
    for shell, place in SHELLS.items():
        (prefix / place).parent.mkdir(parents=True)
        (prefix / place).write_text(output(native, "completions", shell))
    documents(prefix / "share" / "doc" / "litepress")
    shutil.copytree(ROOT / "examples", prefix / "share" / "doc" / "litepress" / "examples")
    return prefix


def static_program(arch):
    """Compiles the program for any Linux of a processor: nothing is linked at run time."""
    triple = f"{arch}-unknown-linux-musl"
    rust_target(triple)
    python_tools()
    cargo("zigbuild", "--target", triple, "--package", "litepress-cli", env=flags(triple))
    return TARGET / triple / "artifact" / "litepress"


def cargo(command, *arguments, env):
    """Runs a build of cargo with the profile of releases."""
    run("cargo", command, "--locked", "--profile", "artifact", *arguments, env=env)


def program_tarball(arch):
    """Packs the program as a tarball."""
    yield tarball(program(arch), DIST / f"litepress-{VERSION}-{arch}-linux.tar.gz")


def debian(arch):
    """Packs the program as a Debian package. It depends on nothing."""
    folder = fresh(f"debian-litepress-{arch}")
    shutil.copytree(program(arch), folder / "usr")
    yield debian_archive("litepress", arch, folder, "utils", [SUMMARY, "Loads CSV, JSON, Parquet, Arrow, spreadsheets and databases, or generates rows."])


def debian_archive(name, arch, folder, section, description, **more):
    """Packs a folder as a Debian package."""
    copyright_file = folder / "usr" / "share" / "doc" / name / "copyright"
    copyright_file.parent.mkdir(parents=True, exist_ok=True)
    copyright_file.write_bytes((ROOT / "LICENSE-MIT").read_bytes() + b"\n" + (ROOT / "LICENSE-APACHE").read_bytes())
    control = {
        "Package": name,
        "Version": VERSION,
        "Architecture": DEBIAN[arch],
        "Maintainer": "The litepress developers <litepress@localhost>",
        "Section": section,
        "Priority": "optional",
        **more,
        "Description": "\n ".join(description),
    }
    return debian_package(folder, DIST / f"{name}_{VERSION}_{DEBIAN[arch]}.deb", control)


def c_library(arch):
    """Packs the C library with its header and its files for pkg-config and CMake: as a tarball and as Debian packages."""
    prefix = fresh(f"liblitepress-{VERSION}-{arch}-linux-gnu")
    run(ROOT / "crates" / "c" / "install.sh", shared_libraries(arch), prefix)
    documents(prefix / "share" / "doc" / "liblitepress")
    shutil.copytree(ROOT / "crates" / "c" / "examples", prefix / "share" / "doc" / "liblitepress" / "examples")
    yield tarball(prefix, DIST / f"{prefix.name}.tar.gz")

    runtime, development = fresh(f"debian-liblitepress0-{arch}"), fresh(f"debian-liblitepress-dev-{arch}")
    shutil.copytree(prefix, development / "usr", symlinks=True)
    (runtime / "usr" / "lib").mkdir(parents=True)
    for library in sorted((development / "usr" / "lib").glob("liblitepress.so.*")):
        shutil.move(library, runtime / "usr" / "lib" / library.name)
    depends = {"Depends": f"libc6 (>= {GLIBC})"}
    yield debian_archive("liblitepress0", arch, runtime, "libs", [f"{SUMMARY}: shared library"], **depends)
    depends = {"Depends": f"liblitepress0 (= {VERSION})"}
    yield debian_archive("liblitepress-dev", arch, development, "libdevel", [f"{SUMMARY}: header and library"], **depends)


def shared_libraries(arch):
    """Compiles the C library against an old glibc, and returns its folder."""
    triple = f"{arch}-unknown-linux-gnu"
    rust_target(triple)
    python_tools()
    cargo("zigbuild", "--target", f"{triple}.{GLIBC}", "--package", "litepress-c", env=flags(triple))
    return TARGET / triple / "artifact"


def wheels(arch):
    """Builds the wheels: one for glibc and one for musl serve every Python from 3.10."""
    python_tools()
    for libc, tag, more in [("gnu", "manylinux_2_17", []), ("musl", "musllinux_1_2", ["-Ctarget-feature=-crt-static"])]:
        triple = f"{arch}-unknown-linux-{libc}"
        rust_target(triple)
        folder = fresh(f"wheel-{triple}")
        build = ["maturin", "build", "--zig", "--profile", "artifact", "--target", triple, "--compatibility", tag, "--out", folder]
        run(*build, cwd=ROOT / "python", env=flags(triple, *more))
        for wheel in folder.glob("*.whl"):
            yield shutil.copy(wheel, DIST)


def gem(arch):
    """Builds the gem: one that finds an installed library, and one for this processor that brings it."""
    if not shutil.which("gem"):
        raise Skipped("there is no Ruby")
    folder = fresh("gem")
    shutil.copytree(ROOT / "ruby", folder / "ruby")
    shutil.copy(ROOT / "Cargo.toml", folder)
    for platform in ["ruby", f"{arch}-linux"]:
        if platform != "ruby":
            install(shared_libraries(arch) / "liblitepress_c.so", folder / "ruby" / "lib" / "litepress" / "liblitepress.so.0", 0o755)
        run("gem", "build", "--quiet", "litepress.gemspec", cwd=folder / "ruby", env={**environment(), "LITEPRESS_GEM_PLATFORM": platform})
    for built in sorted((folder / "ruby").glob("*.gem")):
        yield shutil.copy(built, DIST)


def node(arch):
    """Packs the package for Node.js with its native part, which is for this processor and glibc."""
    if not shutil.which("npm"):
        raise Skipped("there is no npm")
    triple = f"{arch}-unknown-linux-gnu"
    rust_target(triple)
    python_tools()
    cargo("zigbuild", "--target", f"{triple}.{GLIBC}", "--package", "litepress-node", env=flags(triple))
    folder = fresh("node")
    described = json.loads((ROOT / "node" / "package.json").read_text())
    for name in described["files"]:
        if (ROOT / "node" / name).is_dir():
            shutil.copytree(ROOT / "node" / name, folder / name)
        elif name != "litepress.node":
            install(ROOT / "node" / name, folder / name, 0o644)
    install(TARGET / triple / "artifact" / "liblitepress_node.so", folder / "litepress.node", 0o644)
    described |= {"version": VERSION, "os": ["linux"], "cpu": [NODE[arch]], "libc": ["glibc"]}
    described["files"].append("doc")
    (folder / "package.json").write_text(json.dumps(described, indent=2) + "\n")
    documents(folder / "doc")
    packed = output("npm", "pack", "--silent", "--pack-destination", WORK, cwd=folder).split()[-1]
    yield shutil.copy(WORK / packed, DIST / f"litepress-{VERSION}-node-{arch}-linux-gnu.tgz")


def crates(arch):
    """Packs the crates that are published, and compiles each from its package."""
    del arch
    metadata = json.loads(output("cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"))
    published = [package["name"] for package in metadata["packages"] if package["publish"] != []]
    selected = [argument for name in published for argument in ("--package", name)]
    # A tree with changes that are not committed yet can be tried, too.
    run("cargo", "package", "--locked", "--allow-dirty", *selected, env=environment())
    for name in published:
        yield shutil.copy(TARGET / "package" / f"{name}-{VERSION}.crate", DIST)


def components(arch):
    """Writes the list of components (SBOM) of the program, the C library and the Python package as CycloneDX."""
    del arch
    sbom_tool()
    for package in ["litepress-cli", "litepress-c", "litepress-python"]:
        target = DIST / f"{package}-{VERSION}.cdx.json"
        command = ["cargo", "sbom", "--cargo-package", package, "--output-format", "cyclone_dx_json_1_6"]
        target.write_text(output(*command, env=environment()))
        yield target


def documents(folder):
    """Copies the documents that come with every artefact, and the licences of what it contains."""
    folder.mkdir(parents=True)
    for name in DOCUMENTS:
        install(ROOT / name, folder / name, 0o644)
    install(third_party(), folder / "THIRD-PARTY.txt", 0o644)


def third_party():
    """Writes the licences of all dependencies, once a run."""
    written = WORK / "THIRD-PARTY.txt"
    if not written.exists():
        manifests = [ROOT / "crates/cli/Cargo.toml", ROOT / "crates/c/Cargo.toml", ROOT / "python/Cargo.toml"]
        licences.write(manifests, ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"], written)
    return written


def install(source, target, mode):
    """Copies a file with these rights."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def fresh(name):
    """Returns an empty folder."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


STEPS = {
    "program": program_tarball,
    "debian": debian,
    "wheels": wheels,
    "c": c_library,
    "gem": gem,
    "node": node,
    "crates": crates,
    "components": components,
}


def main():
    """Runs the steps, and shows what was made."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--arch", choices=sorted(DEBIAN), default="x86_64", help="the processor")
    arguments.add_argument("--only", default=",".join(STEPS), help=f"some steps, with commas: {', '.join(STEPS)}")
    chosen = arguments.parse_args()
    DIST.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    skipped = []
    for name in chosen.only.split(","):
        try:
            for made in STEPS[name](chosen.arch):
                print(f"made {made}", flush=True)
        except Skipped as reason:
            skipped.append(f"skipped: {name}: {reason}")
    checksums(DIST)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")
    print("\n".join(skipped))


if __name__ == "__main__":
    sys.exit(main())
