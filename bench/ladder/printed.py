"""litepress's command line for invented rows, as rungs of several articles have it."""

from ladder import toolchains

MADE_MEANWHILE = "litepress makes its values while the clock runs, and syncs the file."


def printed(setting, *schema):
    """`schema` is a file, or a preset."""
    rows = ["--rows", setting.rows, "--progress", "none", "--json"]
    return [toolchains.binary("litepress"), "gen", setting.target, *schema, *rows]


def printed_by(setting, text):
    """The same for the text of a schema."""
    path = setting.folder / "schema.sql"
    path.write_text(text, encoding="utf-8")
    return printed(setting, path)
