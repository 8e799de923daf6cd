-- A social network, in the form of Mastodon: unique indexes on expressions, partial indexes, ids everywhere.
CREATE TABLE accounts (id INTEGER PRIMARY KEY, username VARCHAR NOT NULL DEFAULT '', domain VARCHAR, private_key TEXT, public_key TEXT NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, note TEXT NOT NULL DEFAULT '',
  display_name VARCHAR NOT NULL DEFAULT '', uri VARCHAR NOT NULL DEFAULT '', url VARCHAR, avatar_file_name VARCHAR, avatar_content_type VARCHAR, avatar_file_size INTEGER, locked BOOLEAN NOT NULL DEFAULT 0, suspended_at TIMESTAMP, silenced_at TIMESTAMP,
  actor_type VARCHAR, discoverable BOOLEAN, followers_url VARCHAR NOT NULL DEFAULT '');
CREATE UNIQUE INDEX index_accounts_on_username_and_domain_lower ON accounts (lower(username), coalesce(lower(domain), ''));
CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, encrypted_password VARCHAR NOT NULL DEFAULT '', reset_password_token VARCHAR, reset_password_sent_at TIMESTAMP,
  sign_in_count INTEGER NOT NULL DEFAULT 0, current_sign_in_at TIMESTAMP, last_sign_in_at TIMESTAMP, confirmation_token VARCHAR, confirmed_at TIMESTAMP, unconfirmed_email VARCHAR, locale VARCHAR, account_id INTEGER NOT NULL REFERENCES accounts (id),
  disabled BOOLEAN NOT NULL DEFAULT 0, approved BOOLEAN NOT NULL DEFAULT 1, sign_up_ip VARCHAR, time_zone VARCHAR);
CREATE UNIQUE INDEX index_users_on_email ON users (email);
CREATE UNIQUE INDEX index_users_on_reset_password_token ON users (reset_password_token) WHERE reset_password_token IS NOT NULL;
CREATE TABLE statuses (id INTEGER PRIMARY KEY, uri VARCHAR, text TEXT NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, in_reply_to_id INTEGER REFERENCES statuses (id), reblog_of_id INTEGER REFERENCES statuses (id), url VARCHAR,
  sensitive BOOLEAN NOT NULL DEFAULT 0, visibility INTEGER NOT NULL DEFAULT 0, spoiler_text TEXT NOT NULL DEFAULT '', reply BOOLEAN NOT NULL DEFAULT 0, language VARCHAR, account_id INTEGER NOT NULL REFERENCES accounts (id), deleted_at TIMESTAMP, edited_at TIMESTAMP);
CREATE INDEX index_statuses_deleted ON statuses (id) WHERE deleted_at IS NULL;
CREATE TABLE favourites (id INTEGER PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, account_id INTEGER NOT NULL REFERENCES accounts (id), status_id INTEGER NOT NULL REFERENCES statuses (id));
CREATE UNIQUE INDEX index_favourites_on_account_id_and_status_id ON favourites (account_id, status_id);
CREATE TABLE follows (id INTEGER PRIMARY KEY, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, account_id INTEGER NOT NULL REFERENCES accounts (id), target_account_id INTEGER NOT NULL REFERENCES accounts (id), show_reblogs BOOLEAN NOT NULL DEFAULT 1);
CREATE UNIQUE INDEX index_follows ON follows (account_id, target_account_id);
CREATE TABLE tags (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, usable BOOLEAN, trendable BOOLEAN, last_status_at TIMESTAMP);
CREATE UNIQUE INDEX index_tags_on_name_lower ON tags (lower(name));
CREATE TABLE statuses_tags (status_id INTEGER NOT NULL REFERENCES statuses (id), tag_id INTEGER NOT NULL REFERENCES tags (id), PRIMARY KEY (tag_id, status_id));
CREATE TABLE media_attachments (id INTEGER PRIMARY KEY, status_id INTEGER REFERENCES statuses (id), file_file_name VARCHAR, file_content_type VARCHAR, file_file_size INTEGER, remote_url VARCHAR NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL,
  shortcode VARCHAR, type INTEGER NOT NULL DEFAULT 0, description TEXT, account_id INTEGER REFERENCES accounts (id));
CREATE TABLE session_activations (id INTEGER PRIMARY KEY, session_id VARCHAR NOT NULL UNIQUE, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP NOT NULL, user_agent VARCHAR NOT NULL DEFAULT '', ip VARCHAR, user_id INTEGER NOT NULL REFERENCES users (id));
