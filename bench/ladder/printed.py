"""litepress's command line for invented rows, as rungs of several articles have it."""

from ladder import toolchains

PRESS = "press, then sqlite3_deserialize"
MADE_MEANWHILE = "litepress makes its values while the clock runs, and syncs the file."
MADE_IN_MEMORY = "litepress makes its values while the clock runs; SQLite copies the bytes that it is given."


def printed(setting, *schema):
    """`schema` is a file, or a preset."""
    rows = ["--rows", setting.rows, "--progress", "none", "--json"]
    return [toolchains.binary("litepress"), "gen", setting.target, *schema, *rows]


def printed_in_memory(setting, schema):
    """The pages into memory, and SQLite's connection to them."""
    return [toolchains.binary("press"), schema, setting.target, setting.rows, setting.check]


def printed_by(setting, text):
    """Either, for the text of a schema."""
    path = setting.folder / "schema.sql"
    path.write_text(text, encoding="utf-8")
    return printed_in_memory(setting, path) if setting.target == ":memory:" else printed(setting, path)
