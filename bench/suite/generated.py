"""Benchmarks of `litepress generate`, for several articles."""

from suite import toolchains
from suite.benchmark import Benchmark

IN_MEMORY = "generate in memory, then sqlite3_deserialize"
MADE_MEANWHILE = "litepress generates the values while the clock runs, and syncs the file."
MADE_IN_MEMORY = "litepress generates the values while the clock runs; SQLite copies the bytes."


def generate(setting, *schema):
    """Returns the command for a file on disk; `schema` is a path, or an option with a preset."""
    rows = ["--rows", setting.rows, "--progress", "none", "--json"]
    return [toolchains.binary("litepress"), "generate", setting.target, *schema, *rows]


def generate_in_memory(setting, schema):
    """Returns the command for pages in memory and a connection of SQLite to them."""
    return [toolchains.binary("press"), schema, setting.target, setting.rows, setting.check]


def generate_from(setting, text):
    """Returns one command or the other, for the text of a schema."""
    path = setting.folder / "schema.sql"
    path.write_text(text, encoding="utf-8")
    return generate_in_memory(setting, path) if setting.target == ":memory:" else generate(setting, path)


def benchmark(case, title, schema, rows, *, full, place="disk", note=None, **more):
    """Returns a benchmark of litepress; `schema` returns the annotated schema for a number of rows.

    A full run has `full` times as many rows.
    """
    def command(setting):
        return generate_from(setting, schema(setting.rows))

    on_disk = place == "disk"
    return Benchmark(
        case, "litepress", title, place, command, needs=("litepress",) if on_disk else ("rust",), rows=rows,
        full_rows=full * rows, safe=on_disk, note=note or (MADE_MEANWHILE if on_disk else MADE_IN_MEMORY), **more,
    )  # fmt: skip
