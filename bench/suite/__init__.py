"""The benchmark suite: every way to fill SQLite, as small programs that are measured side by side. See ../README.md."""
