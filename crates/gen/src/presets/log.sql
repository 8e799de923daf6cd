-- gen: rows=1m
CREATE TABLE event (
  id          INTEGER PRIMARY KEY,  -- gen: sequence
  at_ms       INTEGER NOT NULL,     -- gen: events('2025-01-01', every='40ms', as='unix_ms')
  level       TEXT NOT NULL,        -- gen: choice('debug': 25, 'info': 62, 'warning': 9, 'error': 3.9, 'fatal': 0.1)
  service     TEXT NOT NULL,        -- gen: choice('web': 50, 'api': 30, 'worker': 12, 'mail': 5, 'billing': 3)
  host        TEXT NOT NULL,        -- gen: choice('a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2')
  request     TEXT,                 -- gen: null(0.2, hex(16))
  user        INTEGER,              -- gen: null(0.35, zipf(1m, 1.1))
  method      TEXT,                 -- gen: choice('GET': 78, 'POST': 15, 'PUT': 4, 'DELETE': 2, NULL: 1)
  path        TEXT,                 -- gen: choice('/': 30, '/search': 20, '/cart': 10, '/login': 8, '/items': 25, '/health': 7)
  status      INTEGER,              -- gen: choice(200: 88, 301: 3, 304: 4, 400: 1, 404: 3, 500: 0.8, 503: 0.2)
  duration_us INTEGER,              -- gen: lognormal(8, 1.5, min=50, max=30m, decimals=0)
  bytes       INTEGER,              -- gen: lognormal(7, 2, max=100m, decimals=0)
  message     TEXT NOT NULL         -- gen: text(10, 80)
);
CREATE INDEX event_at ON event(at_ms);
CREATE INDEX event_user ON event(user, at_ms);
CREATE INDEX event_request ON event(request);
