"""A pytest fixture: tests get a generated database in memory, each its own, in milliseconds. Run it with pytest."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import litepress
import pytest

SCHEMA = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE);
CREATE TABLE purchase (
    id INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customer(id),
    cents INTEGER NOT NULL
);
CREATE INDEX purchase_customer ON purchase (customer);
"""


@pytest.fixture(scope="session")
def shop_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    litepress.generate(path, SCHEMA, rows={"customer": 100, "purchase": 5_000}, seed=1)
    return path


@pytest.fixture
def shop(shop_file: Path) -> Iterator[sqlite3.Connection]:
    """A copy that a test may change."""
    original, database = sqlite3.connect(shop_file), sqlite3.connect(":memory:")
    original.backup(database)
    original.close()
    yield database
    database.close()


def test_every_purchase_has_a_customer(shop: sqlite3.Connection) -> None:
    assert shop.execute("PRAGMA foreign_key_check").fetchall() == []
    assert shop.execute("SELECT count(*) FROM purchase JOIN customer ON customer.id = customer").fetchone() == (5_000,)


def test_customers_can_be_deleted(shop: sqlite3.Connection) -> None:
    shop.execute("DELETE FROM purchase WHERE customer = 1")
    shop.execute("DELETE FROM customer WHERE id = 1")
    assert shop.execute("SELECT count(*) FROM customer").fetchone() == (99,)
