-- Devices, readings and requests of a service; times as integers and reals.
CREATE TABLE hosts (id INTEGER PRIMARY KEY, hostname TEXT NOT NULL UNIQUE, ip TEXT NOT NULL, mac_address TEXT, port INTEGER NOT NULL, os TEXT NOT NULL, version TEXT, environment TEXT NOT NULL, timezone TEXT NOT NULL, last_seen INTEGER, created_at INTEGER NOT NULL);
CREATE TABLE requests (id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, method TEXT NOT NULL, path TEXT NOT NULL, http_status INTEGER NOT NULL, response_time_ms INTEGER NOT NULL, bytes INTEGER NOT NULL, client_ip TEXT NOT NULL, user_agent TEXT, referrer TEXT, ts INTEGER NOT NULL);
CREATE TABLE readings (id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, metric TEXT NOT NULL, value REAL NOT NULL, recorded_ts REAL NOT NULL);
CREATE TABLE logs (id INTEGER PRIMARY KEY, host_id INTEGER REFERENCES hosts, level TEXT NOT NULL, message TEXT NOT NULL, context TEXT, logged_at TEXT NOT NULL);
CREATE TABLE certificates (id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, fingerprint TEXT NOT NULL, valid_from DATE NOT NULL, valid_until DATE NOT NULL, revoked_at TEXT);
