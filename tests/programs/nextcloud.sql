-- A file server, in the form of Nextcloud (Doctrine): tables with a prefix, CLOB, BIGINT keys with AUTOINCREMENT, unsigned columns.
CREATE TABLE "oc_migrations" ("app" VARCHAR(255) NOT NULL, "version" VARCHAR(255) NOT NULL, PRIMARY KEY("app", "version"));
CREATE TABLE oc_storages (numeric_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, id VARCHAR(64) DEFAULT NULL COLLATE "BINARY", available INTEGER DEFAULT 1 NOT NULL, last_checked INTEGER DEFAULT NULL);
CREATE TABLE oc_mimetypes (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, mimetype VARCHAR(255) DEFAULT '' NOT NULL COLLATE "BINARY");
CREATE TABLE oc_filecache (fileid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, storage BIGINT DEFAULT 0 NOT NULL, path VARCHAR(4000) DEFAULT NULL COLLATE "BINARY", path_hash VARCHAR(32) DEFAULT '' NOT NULL, parent BIGINT DEFAULT 0 NOT NULL,
  name VARCHAR(250) DEFAULT NULL, mimetype BIGINT DEFAULT 0 NOT NULL, size BIGINT DEFAULT 0 NOT NULL, mtime BIGINT DEFAULT 0 NOT NULL, encrypted INTEGER DEFAULT 0 NOT NULL, etag VARCHAR(40) DEFAULT NULL);
CREATE TABLE oc_users (uid VARCHAR(64) DEFAULT '' NOT NULL COLLATE "BINARY", displayname VARCHAR(64) DEFAULT NULL, password VARCHAR(255) DEFAULT '' NOT NULL, uid_lower VARCHAR(64) DEFAULT '', PRIMARY KEY(uid));
CREATE TABLE oc_preferences (userid VARCHAR(64) DEFAULT '' NOT NULL, appid VARCHAR(32) DEFAULT '' NOT NULL, configkey VARCHAR(64) DEFAULT '' NOT NULL, configvalue CLOB DEFAULT NULL, PRIMARY KEY(userid, appid, configkey));
CREATE TABLE oc_share (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, share_type SMALLINT DEFAULT 0 NOT NULL, share_with VARCHAR(255) DEFAULT NULL, file_source BIGINT DEFAULT NULL, permissions SMALLINT DEFAULT 0 NOT NULL, expiration DATETIME DEFAULT NULL, token VARCHAR(32) DEFAULT NULL);
CREATE TABLE oc_activity (activity_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, timestamp INTEGER DEFAULT 0 NOT NULL, type VARCHAR(255) DEFAULT NULL, user VARCHAR(64) DEFAULT NULL, subjectparams CLOB NOT NULL);
CREATE UNIQUE INDEX storages_id_index ON oc_storages (id);
CREATE UNIQUE INDEX fs_storage_path_hash ON oc_filecache (storage, path_hash);
CREATE INDEX fs_parent_name_hash ON oc_filecache (parent, name);
CREATE INDEX fs_storage_mimetype ON oc_filecache (storage, mimetype);
CREATE INDEX fs_size ON oc_filecache (size);
CREATE INDEX token_index ON oc_share (token);
CREATE INDEX activity_user_time ON oc_activity (user, timestamp);
