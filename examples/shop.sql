-- A shop: litepress generate shop.db examples/shop.sql
CREATE TABLE customer (            -- gen: rows=100k
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,           -- gen: full_name
  email   TEXT UNIQUE,             -- gen: email
  country TEXT,                    -- gen: choice('DE': 5, 'FR': 3, 'IT': 2)
  joined  TEXT                     -- gen: timestamp('2020-01-01', '2026-01-01')
);
CREATE TABLE orders (              -- gen: rows=1m
  id       INTEGER PRIMARY KEY,
  customer INTEGER NOT NULL REFERENCES customer(id),
  total    REAL NOT NULL,          -- gen: real(1, 500, 2)
  note     TEXT                    -- gen: null(0.9, text(10, 80))
);
CREATE TABLE stock (               -- gen: rows=50k
  shelf  TEXT,                     -- gen: choice('A', 'B', 'C')
  item   INTEGER,                  -- gen: sequence
  pieces INTEGER NOT NULL,         -- gen: int(0, 500)
  PRIMARY KEY (shelf, item)
) WITHOUT ROWID;
CREATE INDEX orders_customer ON orders(customer);
CREATE INDEX customer_country ON customer(country, joined DESC);
CREATE VIEW big_order AS SELECT * FROM orders WHERE total > 450;
