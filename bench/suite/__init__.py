"""The benchmark suite: every way to fill SQLite, each a small program, measured side by side. See ../README.md."""
