"""The table that `jobs.py --write` puts into docs/jobs.md."""

import pathlib
import tempfile
import unittest
from unittest import mock

import jobs


def line():
    figures = {
        ".import time / litepress time": {"median": 20.0, "min": 18.0, "max": 21.0},
        "litepress rows/s": {"median": 2e6, "min": 1.9e6, "max": 2.1e6},
    }
    return {
        "when": "2025-01-31T12:00:00+00:00", "machine": {"cpu": "AMD EPYC", "cores": 2}, "rows": 4_000_000,
        "jobs": [{"job": job.name, "figures": figures} for job in jobs.JOBS],
    }  # fmt: skip


class Jobs(unittest.TestCase):
    def test_each_job_is_a_row(self):
        table = jobs.table(line())
        for job in jobs.JOBS:
            self.assertIn(f"| {job.name} |", table)
        # 13 million rows at 2 million a second.
        self.assertIn("| 382 to 1,168 seconds | 2.00 M | 6 s | 20.0 (18.0 to 21.0) |", table)

    def test_only_the_text_between_the_marks_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "jobs.md"
            page.write_text(f"before\n\n{jobs.MARK}\n\nold\n\n{jobs.MARK}\n\nafter\n", encoding="utf-8")
            with mock.patch.object(jobs, "PAGE", page):
                jobs.write(line())
            text = page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("before\n\n") and text.endswith("\n\nafter\n"))
        self.assertNotIn("old", text)
        self.assertEqual(text.count(jobs.MARK), 2)

    def test_ours_has_its_marks(self):
        self.assertEqual(jobs.PAGE.read_text(encoding="utf-8").count(jobs.MARK), 2)


if __name__ == "__main__":
    unittest.main()
