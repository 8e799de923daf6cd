"""A simulation writes its metrics while it runs: nothing is there if it fails, and all of it once it ends."""

import random
import sqlite3
import sys
from pathlib import Path

import litepress

SCHEMA = """
CREATE TABLE metrics (step INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL);
CREATE INDEX metrics_name ON metrics (name, step);
CREATE TABLE event (step INTEGER NOT NULL, what TEXT NOT NULL);
"""


def main(folder: Path, steps: int = 20_000) -> None:
    dice = random.Random(7)
    foxes, rabbits = 20.0, 100.0
    with litepress.create(folder / "metrics.db", SCHEMA, if_exists="overwrite") as db:
        metrics, events = db["metrics"], db["event"]
        for step in range(steps):
            born, eaten = rabbits * 0.02, rabbits * foxes * 0.001
            rabbits = max(2.0, rabbits + born - eaten)
            foxes = max(2.0, foxes + eaten * 0.1 - foxes * 0.01)
            metrics.append((step, "rabbits", rabbits))
            metrics.append((step, "foxes", foxes))
            if dice.random() < 0.001:
                events.append({"step": step, "what": "a hard winter"})
                rabbits /= 2
    database = sqlite3.connect(folder / "metrics.db")
    for name, count, mean in database.execute("SELECT name, count(*), avg(value) FROM metrics GROUP BY name"):
        print(f"{name:8} {count:,} values, {mean:.1f} on average")
    database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
