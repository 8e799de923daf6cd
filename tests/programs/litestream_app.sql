-- A small service behind Litestream: STRICT tables, WITHOUT ROWID, JSON, and the tables that Litestream keeps.
PRAGMA journal_mode = WAL;
CREATE TABLE _litestream_lock (id INTEGER);
CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
CREATE TABLE account (id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE COLLATE NOCASE, created_at INTEGER NOT NULL DEFAULT (1700000000), plan TEXT NOT NULL DEFAULT 'free') STRICT, WITHOUT ROWID;
CREATE TABLE job (id INTEGER PRIMARY KEY, account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE, state TEXT NOT NULL, payload ANY, run_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, CHECK (attempts >= 0)) STRICT;
CREATE TABLE audit (at INTEGER NOT NULL, account_id TEXT NOT NULL, what TEXT NOT NULL, data BLOB, PRIMARY KEY (account_id, at, what)) STRICT, WITHOUT ROWID;
CREATE INDEX job_due ON job (run_at) WHERE state = 'queued';
CREATE INDEX job_account ON job (account_id, run_at DESC);
CREATE INDEX audit_at ON audit (at);
-- value: job.state = CASE n % 3 WHEN 0 THEN 'queued' ELSE 'done' END
-- value: job.payload = CASE n % 4 WHEN 0 THEN n WHEN 1 THEN n * 0.5 WHEN 2 THEN '12' ELSE NULL END
