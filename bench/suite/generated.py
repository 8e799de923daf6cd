"""litepress's command line for invented rows, as benchmarks of several articles have it."""

from suite import toolchains
from suite.benchmark import Benchmark

PRESS = "press, then sqlite3_deserialize"
MADE_MEANWHILE = "litepress makes its values while the clock runs, and syncs the file."
MADE_IN_MEMORY = "litepress makes its values while the clock runs; SQLite copies the bytes that it is given."


def generate(setting, *schema):
    """`schema` is a file, or a preset."""
    rows = ["--rows", setting.rows, "--progress", "none", "--json"]
    return [toolchains.binary("litepress"), "gen", setting.target, *schema, *rows]


def generate_in_memory(setting, schema):
    """The pages into memory, and SQLite's connection to them."""
    return [toolchains.binary("press"), schema, setting.target, setting.rows, setting.check]


def generate_from(setting, text):
    """Either, for the text of a schema."""
    path = setting.folder / "schema.sql"
    path.write_text(text, encoding="utf-8")
    return generate_in_memory(setting, path) if setting.target == ":memory:" else generate(setting, path)


def benchmark(case, title, schema, rows, *, full, place="disk", note=None, **more):
    """A benchmark of litepress: `schema` gives the annotated schema for a number of rows, `full` times as many in a full run."""
    def command(setting):
        return generate_from(setting, schema(setting.rows))

    on_disk = place == "disk"
    return Benchmark(
        case, "litepress", title, place, command, needs=("litepress",) if on_disk else ("rust",), rows=rows,
        full_rows=full * rows, safe=on_disk, note=note or (MADE_MEANWHILE if on_disk else MADE_IN_MEMORY), **more,
    )  # fmt: skip
