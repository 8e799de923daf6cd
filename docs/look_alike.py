"""Draws docs/look_alike.svg: distributions of a database, and of one a hundred times its size that was made from its profile.

    python3 docs/look_alike.py SOURCE.db [TABLE.COLUMN ...] [--scale 100] [--litepress PATH]

Nothing is drawn by hand: the program profiles the source, makes the look-alike, and its comparison of both is what is shown.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

COLUMNS = ["Track.Milliseconds", "Album.ArtistId", "Invoice.Total"]
WIDTH, HEIGHT, TOP, BOTTOM = 260, 226, 60, 40
STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #57606a } .title { font-size: 13px; font-weight: 600 }
  .source { fill: #0969da } .made { fill: #fb8f44 }
  @media (prefers-color-scheme: dark) { text { fill: #9198a1 } .source { fill: #4493f8 } }
"""


def compared(litepress, source, scale):
    """The comparison of a database with its look-alike, by table and column."""
    with tempfile.TemporaryDirectory() as folder:
        recipe, made = Path(folder, "recipe.toml"), Path(folder, "made.db")
        recipe.write_bytes(subprocess.run([litepress, "profile", source], check=True, stdout=subprocess.PIPE).stdout)
        subprocess.run([litepress, "generate", made, "--recipe", recipe, "--scale", str(scale)], check=True, capture_output=True)
        command = [litepress, "compare", source, made, "--json"]
        tables = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["tables"]
    return {f"{table['name']}.{column['name']}": (table, column) for table in tables for column in table["columns"]}


def panel(left, name, table, column):
    """One column: a pair of bars for each bucket."""
    buckets = column["buckets"]
    most = max(share for bucket in buckets for share in bucket["shares"])
    step, height = (WIDTH - 30) / len(buckets), HEIGHT - TOP - BOTTOM
    rows = " | ".join(f"{rows:,}" for rows in table["rows"])
    yield f'<text class="title" x="{left}" y="16">{escape(name)}</text>'
    yield f'<text x="{left}" y="32">{escape(column["measure"])}</text>'
    yield f'<text x="{left}" y="47">{rows} rows; distance {column["distance"]:.3f}</text>'
    for number, bucket in enumerate(buckets):
        for side, share in enumerate(bucket["shares"]):
            x, bar = left + number * step + side * step * 0.42, height * share / most
            kind = ("source", "made")[side]
            yield (
                f'<rect class="{kind}" x="{x:.1f}" y="{TOP + height - bar:.1f}" width="{step * 0.4:.1f}" height="{bar:.1f}">'
                f"<title>{escape(bucket['values'])}: {share:.1%}</title></rect>"
            )
    ends = [(buckets[0]["values"].split(" ..")[0], left, "start"), (buckets[-1]["values"], left + WIDTH - 30, "end")]
    for label, x, anchor in ends:
        yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 14}" text-anchor="{anchor}">{escape(label)}</text>'


def picture(found, names, scale):
    """The whole picture."""
    width = WIDTH * len(names)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}">'
    yield f"<style>{STYLE}</style>"
    for number, name in enumerate(names):
        yield from panel(number * WIDTH, name, *found[name])
    legend = HEIGHT - 8
    yield f'<rect class="source" x="0" y="{legend - 9}" width="9" height="9"/><text x="14" y="{legend}">the source</text>'
    yield f'<rect class="made" x="90" y="{legend - 9}" width="9" height="9"/>'
    yield f'<text x="104" y="{legend}">litepress generate --recipe --scale {scale}</text>'
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a database")
    parser.add_argument("columns", nargs="*", default=COLUMNS, metavar="TABLE.COLUMN", help="what is drawn")
    parser.add_argument("--scale", type=int, default=100)
    parser.add_argument("--litepress", default="litepress", help="the program")
    options = parser.parse_args()
    found = compared(options.litepress, options.source, options.scale)
    lines = picture(found, options.columns or COLUMNS, options.scale)
    Path(__file__).with_name("look_alike.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
