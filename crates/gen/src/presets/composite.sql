-- gen: rows=1m
CREATE TABLE reading (
  region INTEGER NOT NULL,  -- gen: int(1, 50)
  site   INTEGER NOT NULL,  -- gen: int(1, 1000)
  device INTEGER NOT NULL,  -- gen: int(1, 100_000)
  code   TEXT NOT NULL,     -- gen: unique_hex(12)
  taken  TEXT NOT NULL,     -- gen: timestamp('2020-01-01', '2025-01-01')
  value  REAL,              -- gen: null(0.05, normal(20, 12, decimals=2))
  state  INTEGER NOT NULL,  -- gen: choice(0: 90, 1: 8, 2: 2)
  PRIMARY KEY (region, site, device, code)
) WITHOUT ROWID;
