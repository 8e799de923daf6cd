"""Brings pages of the repository outside of docs/ into the docs site, and points links at them.

A link of a page to a file of the repository becomes a link to a page of the site: Markdown is rendered, other text is shown as
code, a folder as a list of its files. So nothing on the site needs a network.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
# Pages with another name on the site. The report of the benchmarks is there as its HTML, which has the charts.
RENAMED = {"README.md": "index.md", "docs/benchmarks.md": "benchmarks.html"}
ANCHORS = {"how-cost-grows": "growth"}
LINK = re.compile(r"(?<=\]\()<?([^)<>#\s]+)(#[^)>\s]*)?>?(?=\))")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
LANGUAGES = {"rs": "rust", "py": "python", "h": "c", "cpp": "cpp", "c": "c", "sql": "sql", "go": "go", "toml": "toml"}
LARGEST_CODE_BYTES = 100_000
# Copies of code would hide the pages that a search is for.
NOT_SEARCHED = "repository/"


def on_files(files, config):
    for file in files.documentation_pages():
        _bring_targets(origin(file.src_uri), file.content_string, files, config)
    for name in ("README.md", "python/README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        _bring(name, files, config)
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here.startswith(NOT_SEARCHED) and not here.endswith("README.md"):
        page.meta.setdefault("search", {})["exclude"] = True
    parts = FENCE.split(markdown)
    parts[::2] = [LINK.sub(lambda link: _link(link, here, files), part) for part in parts[::2]]
    return "".join(parts)


def origin(page):
    """Returns the path in the repository of a page of the site."""
    if page == "index.md":
        return "README.md"
    return page.removeprefix("repository/") if page.startswith("repository/") else f"docs/{page}"


def uri(path):
    """Returns the path on the site of a file of the repository."""
    if path in RENAMED:
        return RENAMED[path]
    if _is_of_docs(path):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"repository/{path}/index.md"
    suffix = "" if path.endswith((".md", ".jsonl")) else ".md"
    return f"repository/{path}{suffix}"


def _is_of_docs(path):
    return path.startswith("docs/") and not path.endswith(".py")


def _target(link, path):
    """Returns the path in the repository that a link of a file means, or `None` for an address."""
    if re.match(r"[a-z]+:", link):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return target if (ROOT / target).exists() else None


def _link(link, page, files):
    target = _target(link[1], origin(page))
    if target is None or files.get_file_from_path(uri(target)) is None:
        return link[0]
    anchor = (link[2] or "").removeprefix("#")
    anchor = ANCHORS.get(anchor, anchor) if target in RENAMED else anchor
    return posixpath.relpath(uri(target), posixpath.dirname(page) or ".") + (anchor and f"#{anchor}")


def _bring_targets(path, text, files, config):
    for part in FENCE.split(text)[::2]:
        for link in LINK.finditer(part):
            target = _target(link[1], path)
            if target and not _is_of_docs(target):
                _bring(target, files, config)


def _bring(path, files, config):
    """Adds a file or folder of the repository to the site, and the files that it links to."""
    if files.get_file_from_path(uri(path)) is not None:
        return
    source = ROOT / path
    if source.is_dir():
        names = sorted(child.name for child in source.iterdir() if child.is_file() and not child.name.startswith("."))
        text = f"# {path}/\n\n" + "".join(f"- [{name}]({name})\n" for name in names)
    elif path.endswith(".jsonl"):
        files.append(File.generated(config, uri(path), abs_src_path=str(source)))
        return
    else:
        text = source.read_text(encoding="utf-8")
        if not path.endswith(".md"):
            text = _as_code(path, text)
    files.append(_page(config, uri(path), text))
    _bring_targets(path + "/" if source.is_dir() else path, text, files, config)


def _as_code(path, text):
    language = LANGUAGES.get(path.rpartition(".")[2], "text")
    cut = text[:LARGEST_CODE_BYTES]
    note = "" if cut == text else f"\nThe first {LARGEST_CODE_BYTES:,} characters.\n"
    fence = "`" * 6
    return f"# {path}\n{note}\n{fence}{language}\n{cut.rstrip()}\n{fence}\n"


def _page(config, page, text):
    return File.generated(config, page, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
