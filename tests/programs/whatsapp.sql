-- Messages, in the form of WhatsApp on Android, whose SQLite turns full auto-vacuum on: FTS4, AUTOINCREMENT, many narrow tables, triggers that tidy up.
PRAGMA auto_vacuum = FULL;
PRAGMA user_version = 1;
CREATE TABLE android_metadata (locale TEXT);
CREATE TABLE jid (_id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, server TEXT NOT NULL, agent INTEGER, device INTEGER, type INTEGER, raw_string TEXT);
CREATE TABLE chat (_id INTEGER PRIMARY KEY AUTOINCREMENT, jid_row_id INTEGER UNIQUE, hidden INTEGER, subject TEXT, created_timestamp INTEGER, last_message_row_id INTEGER, archived INTEGER, sort_timestamp INTEGER);
CREATE TABLE message (_id INTEGER PRIMARY KEY AUTOINCREMENT, chat_row_id INTEGER NOT NULL, from_me INTEGER NOT NULL, key_id TEXT NOT NULL, sender_jid_row_id INTEGER, status INTEGER,
  timestamp INTEGER, received_timestamp INTEGER, message_type INTEGER, text_data TEXT, starred INTEGER, sort_id INTEGER NOT NULL DEFAULT 0);
CREATE TABLE message_media (message_row_id INTEGER PRIMARY KEY, chat_row_id INTEGER, file_path TEXT, file_size INTEGER, mime_type TEXT, media_key BLOB, first_scan_sidecar BLOB, width INTEGER, height INTEGER);
CREATE TABLE message_location (message_row_id INTEGER PRIMARY KEY, chat_row_id INTEGER, latitude REAL, longitude REAL, place_name TEXT);
CREATE TABLE receipt_user (_id INTEGER PRIMARY KEY AUTOINCREMENT, message_row_id INTEGER NOT NULL, receipt_user_jid_row_id INTEGER NOT NULL, receipt_timestamp INTEGER);
CREATE UNIQUE INDEX jid_raw_string_index ON jid (raw_string, agent, device);
CREATE UNIQUE INDEX message_key_index ON message (chat_row_id, from_me, key_id, sender_jid_row_id);
CREATE INDEX message_chat_id_index ON message (chat_row_id, sort_id);
CREATE INDEX message_starred_index ON message (starred) WHERE starred > 0;
CREATE UNIQUE INDEX receipt_user_index ON receipt_user (message_row_id, receipt_user_jid_row_id);
CREATE INDEX message_media_hash ON message_media (file_path COLLATE NOCASE);
-- value: jid.raw_string = 'user' || n || '@example.org'
-- value: message_media.first_scan_sidecar = CASE WHEN n % 40 = 0 THEN zeroblob(9000) ELSE NULL END
-- rows
CREATE VIRTUAL TABLE message_ftsv2 USING fts4(content, fts_jid, tokenize = simple);
INSERT INTO message_ftsv2 (docid, content, fts_jid) SELECT _id, text_data, chat_row_id FROM message WHERE text_data IS NOT NULL;
CREATE TRIGGER message_bd_for_receipt BEFORE DELETE ON message BEGIN DELETE FROM receipt_user WHERE message_row_id = old._id; END;
CREATE TRIGGER message_bd_for_media BEFORE DELETE ON message BEGIN DELETE FROM message_media WHERE message_row_id = old._id; END;
CREATE VIEW chat_view AS SELECT c._id, j.raw_string, c.subject, (SELECT count(*) FROM message m WHERE m.chat_row_id = c._id) AS messages FROM chat c LEFT JOIN jid j ON j._id = c.jid_row_id;
