-- Flash cards, in the form of Anki's collection: a collation that only the program has, WITHOUT ROWID, keys of milliseconds.
PRAGMA user_version = 11;
CREATE TABLE col (id INTEGER PRIMARY KEY, crt INTEGER NOT NULL, mod INTEGER NOT NULL, scm INTEGER NOT NULL, ver INTEGER NOT NULL, conf TEXT NOT NULL, models TEXT NOT NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, guid TEXT NOT NULL, mid INTEGER NOT NULL, mod INTEGER NOT NULL, usn INTEGER NOT NULL, tags TEXT NOT NULL, flds TEXT NOT NULL,
  sfld INTEGER NOT NULL, csum INTEGER NOT NULL, flags INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE cards (id INTEGER PRIMARY KEY, nid INTEGER NOT NULL, did INTEGER NOT NULL, ord INTEGER NOT NULL, mod INTEGER NOT NULL, usn INTEGER NOT NULL, type INTEGER NOT NULL,
  queue INTEGER NOT NULL, due INTEGER NOT NULL, ivl INTEGER NOT NULL, factor INTEGER NOT NULL, reps INTEGER NOT NULL, odid INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE revlog (id INTEGER PRIMARY KEY, cid INTEGER NOT NULL, usn INTEGER NOT NULL, ease INTEGER NOT NULL, ivl INTEGER NOT NULL, time INTEGER NOT NULL, type INTEGER NOT NULL);
CREATE TABLE graves (oid INTEGER NOT NULL, type INTEGER NOT NULL, usn INTEGER NOT NULL, PRIMARY KEY (oid, type)) WITHOUT ROWID;
CREATE TABLE config (KEY TEXT NOT NULL PRIMARY KEY, usn INTEGER NOT NULL, mtime_secs INTEGER NOT NULL, val BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE notetypes (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, mtime_secs INTEGER NOT NULL, usn INTEGER NOT NULL, config BLOB NOT NULL);
CREATE TABLE fields (ntid INTEGER NOT NULL, ord INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE, config BLOB NOT NULL, PRIMARY KEY (ntid, ord)) WITHOUT ROWID;
CREATE TABLE tags (tag TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, usn INTEGER NOT NULL, collapsed BOOLEAN NOT NULL) WITHOUT ROWID;
CREATE INDEX ix_notes_usn ON notes (usn);
CREATE INDEX ix_notes_csum ON notes (csum);
CREATE INDEX ix_cards_sched ON cards (did, queue, due);
CREATE INDEX idx_cards_odid ON cards (odid) WHERE odid != 0;
CREATE UNIQUE INDEX idx_fields_name_ntid ON fields (name, ntid);
CREATE UNIQUE INDEX idx_notetypes_name ON notetypes (name);
CREATE INDEX idx_graves_pending ON graves (usn);
-- value: notes.id = 1600000000000 + n
-- value: cards.id = 1600000000000 + n
-- value: cards.nid = 1600000000000 + n
-- value: notes.sfld = CASE n % 3 WHEN 0 THEN n ELSE 'word ' || n END
-- rows
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'COLLATE NOCASE', 'COLLATE unicase');
PRAGMA writable_schema = RESET;
