"""The licences of all software that the artefacts contain, as one text.

Cargo tells which packages are compiled in; their texts lie beside their sources. A licence that is not in ACCEPTED fails the
build, and so does a package without a text: a person decides then.
"""

import json
import pathlib
import re

from tools import ROOT, environment, output

ACCEPTED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib", "bzip2-1.0.6",
}  # fmt: skip
NAMES = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice|unlicense)")
# SQLite is in the public domain, and its sources have a blessing in place of a licence.
WITHOUT_TEXT = "The package has no file with its licence. Its authors state: {licence}."


def packages(manifests, triples):
    """Returns the packages that are compiled into the artefacts, by name and version."""
    found = {}
    for manifest in manifests:
        for triple in triples:
            command = ("cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", manifest)
            graph = json.loads(output(*command, "--filter-platform", triple, env=environment()))
            by_id = {package["id"]: package for package in graph["packages"]}
            for reached in compiled_in(graph):
                package = by_id[reached]
                found[package["name"], package["version"]] = package
    return [found[key] for key in sorted(found) if found[key]["source"]]


def compiled_in(graph):
    """Returns the packages that the root package needs when it runs: no dependencies of tests or of build scripts."""
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    waiting, reached = [graph["resolve"]["root"]], set()
    while waiting:
        package = waiting.pop()
        if package in reached:
            continue
        reached.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return reached


def refused(licence):
    """Returns whether no choice that an SPDX expression leaves is accepted."""
    expression = licence.replace("/", " OR ")
    if expression.count("(") or (" AND " in expression and " OR " in expression):
        names = re.split(r"\s+(?:AND|OR)\s+|[()]", expression)
        return not all(name.strip() in ACCEPTED for name in names if name.strip())
    choices = [part.split(" AND ") for part in expression.split(" OR ")]
    return not any(all(name.strip() in ACCEPTED for name in choice) for choice in choices)


def texts(package):
    """Yields the names and texts of a package's licences: also of the C code in it, such as zstd."""
    folder = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and NAMES.match(path.name) and path.suffix not in {".rs", ".toml", ".py", ".c", ".h", ".json"}:
            yield str(inside), path.read_text(encoding="utf-8", errors="replace").strip()


def write(manifests, triples, target):
    """Writes THIRD-PARTY.txt: every package with its licence, then every text once."""
    lines = ["litepress contains this software. The texts of the licences follow the list.", ""]
    by_text, wrong = {}, []
    for package in packages(manifests, triples):
        name, licence = f"{package['name']} {package['version']}", package["license"] or "no licence"
        if refused(licence):
            wrong.append(f"{name}: {licence}")
        lines.append(f"{name}: {licence}")
        found = list(texts(package)) or [("", WITHOUT_TEXT.format(licence=licence))]
        for path, text in found:
            by_text.setdefault(text, []).append(f"{name} {path}".strip())
    if wrong:
        raise SystemExit(f"licences that are not accepted (dist/licences.py): {'; '.join(wrong)}")
    lines.append("SQLite: public domain (https://sqlite.org/copyright.html)")
    for text, users in sorted(by_text.items(), key=lambda item: item[1]):
        lines += ["", "=" * 100, *users, "-" * 100, text]
    target.write_text("\n".join(lines) + "\n")
    return target


if __name__ == "__main__":
    print(write([ROOT / "crates/cli/Cargo.toml"], ["x86_64-unknown-linux-gnu"], pathlib.Path("/dev/stdout")))
