-- Messages, in the form of Signal Desktop: JSON with generated columns, expression and partial indexes, FTS5 kept up by triggers.
PRAGMA user_version = 1040;
CREATE TABLE conversations (id STRING PRIMARY KEY ASC, json TEXT, active_at INTEGER, type STRING, members TEXT, name TEXT, profileName TEXT, e164 TEXT, serviceId TEXT);
CREATE TABLE messages (rowid INTEGER PRIMARY KEY ASC, id STRING UNIQUE, json TEXT, readStatus INTEGER, expires_at INTEGER, sent_at INTEGER, conversationId STRING, received_at INTEGER,
  hasAttachments INTEGER, expireTimer INTEGER, type STRING, body TEXT, isErased INTEGER, storyId STRING,
  isStory INTEGER GENERATED ALWAYS AS (type IS 'story'),
  shouldAffectPreview INTEGER GENERATED ALWAYS AS (type IS NULL OR type NOT IN ('change-number-notification', 'keychange')),
  bodyLength INTEGER GENERATED ALWAYS AS (length(body)) STORED);
CREATE TABLE reactions (conversationId STRING, emoji STRING, fromId STRING, messageId STRING, targetTimestamp INTEGER, unread INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, conversationId TEXT, json TEXT, ourServiceId TEXT) STRICT;
CREATE TABLE edited_messages (messageId STRING REFERENCES messages(id) ON DELETE CASCADE, sentAt INTEGER, readStatus INTEGER);
CREATE TABLE sticker_packs (id TEXT PRIMARY KEY, key TEXT NOT NULL, author STRING, coverStickerId INTEGER, createdAt INTEGER, status STRING);
CREATE TABLE stickers (id INTEGER NOT NULL, packId TEXT NOT NULL, emoji STRING, height INTEGER, lastUsed INTEGER, path STRING, width INTEGER, PRIMARY KEY (id, packId),
  CONSTRAINT stickers_fk FOREIGN KEY (packId) REFERENCES sticker_packs(id) ON DELETE CASCADE);
CREATE INDEX messages_conversation ON messages (conversationId, isStory, storyId, received_at, sent_at);
CREATE INDEX messages_unread ON messages (conversationId, readStatus) WHERE readStatus IS NOT NULL;
CREATE INDEX messages_by_date ON messages (received_at, sent_at);
CREATE INDEX message_url ON messages (json_extract(json, '$.url')) WHERE json_valid(json);
CREATE UNIQUE INDEX reactions_unique_index ON reactions (fromId, messageId);
CREATE INDEX conversations_active ON conversations (active_at) WHERE active_at IS NOT NULL;
-- value: conversations.id = 'c' || n
-- value: messages.id = 'm' || n
-- value: messages.type = CASE n % 4 WHEN 0 THEN 'story' WHEN 1 THEN 'incoming' WHEN 2 THEN 'keychange' END
-- value: messages.json = json_object('id', 'm' || n, 'url', 'https://example.org/' || (n % 9))
-- rows
CREATE VIRTUAL TABLE messages_fts USING fts5(body, tokenize = 'unicode61');
INSERT INTO messages_fts (rowid, body) SELECT rowid, body FROM messages WHERE body IS NOT NULL;
CREATE TRIGGER messages_on_insert AFTER INSERT ON messages WHEN new.isErased IS NULL OR new.isErased = 0
  BEGIN INSERT INTO messages_fts (rowid, body) VALUES (new.rowid, new.body); END;
CREATE TRIGGER messages_on_delete AFTER DELETE ON messages BEGIN DELETE FROM messages_fts WHERE rowid = old.rowid; DELETE FROM reactions WHERE rowid IN (SELECT rowid FROM reactions WHERE messageId = old.id); END;
CREATE TRIGGER messages_on_update AFTER UPDATE ON messages WHEN new.body IS NOT old.body
  BEGIN DELETE FROM messages_fts WHERE rowid = old.rowid; INSERT INTO messages_fts (rowid, body) VALUES (new.rowid, new.body); END;
