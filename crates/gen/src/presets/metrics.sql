-- gen: rows=1m
CREATE TABLE metric (
  at    INTEGER NOT NULL,  -- gen: repeat(1_735_689_600, 4_891_363_200, each=20, step=10)
  name  TEXT NOT NULL,     -- gen: choice('cpu.user', 'cpu.system', 'cpu.wait', 'memory.used', 'memory.cached', 'disk.read', 'disk.write', 'disk.free', 'net.in', 'net.out', 'net.errors', 'http.requests', 'http.errors', 'http.latency', 'queue.length', 'queue.age', 'db.connections', 'db.queries', 'db.locks', 'temperature')
  host  INTEGER NOT NULL,  -- gen: zipf(50, 0.5)
  value REAL               -- gen: null(0.01, normal(50, 15, min=0, decimals=3))
);
CREATE INDEX metric_name_at ON metric(name, at);
