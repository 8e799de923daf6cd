"""Renders blocks as Markdown."""

import re

from .blocks import Bar, Code, Curves, Fold, Items, Link, Overview, Paragraph, Ranking, Strong, Table

BAR_LENGTH = 20


def page(title, introduction, sections):
    parts = [f"# {title}", inline(introduction), *(part for section in sections for part in _section(section))]
    return "\n\n".join(parts) + "\n"


def _section(section):
    yield f"## {section.title}"
    for block in section.blocks:
        yield from _block(block, 3)


def _block(block, level):
    """Renders a block. Charts are left out: the tables beside them have the same figures."""
    match block:
        case Paragraph(text):
            yield inline(text)
        case Items(items):
            yield "\n".join(f"- {inline(item)}" for item in items)
        case Table():
            yield f"{'#' * level} {escaped(block.caption)}"
            yield table(block)
        case Fold(_, [Table() as only], _):
            yield from _block(only, level)
        case Fold(title, blocks, _):
            yield f"{'#' * level} {escaped(title)}"
            for inner in blocks:
                yield from _block(inner, level + 1)
        case Overview(title, _, True):
            yield f"![{escaped(title)}: litepress, the other methods, and the disk's limit, on one axis](ladder.svg)"
        case Ranking() | Curves() | Overview():
            pass


def table(block):
    titles = [column.removeprefix(">") for column in block.columns]
    rules = ["---:" if column.startswith(">") else "---" for column in block.columns]
    rows = [titles, rules, *([_cell(cell) for cell in row] for row in block.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell):
    if isinstance(cell, Bar):
        return "█" * max(1, round(cell.share * BAR_LENGTH))
    return inline(cell)


def inline(text):
    match text:
        case str():
            return escaped(text)
        case Code(code):
            return f"`{code}`"
        case Strong(strong):
            return f"**{escaped(strong)}**"
        case Link(name, address):
            return f"[{escaped(name)}](<{address}>)"
    return "".join(inline(part) for part in text)


def escaped(text):
    """Escapes data, so that nothing in it becomes markup or ends a cell or a line."""
    text = re.sub(r"\s*\n\s*", " ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*\[\]|~])", r"\\\1", text)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)
