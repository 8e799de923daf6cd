"""The lint counts comment lines of Rust and Python, and finds the openings and phrases that are not plain English."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import plain_english

RUST = '''//! What stands here is a finding.
//!
/// Returns the sum. Where it overflows, `None`.
fn sum() {
    // Whatever the code says: "so many" is a phrase.
    let url = "https://example.org"; // Of a comment behind code nothing counts.
    /// Returns what is left: a clause in the middle is no finding.
}
'''
PYTHON = '''"""Counts rows.

- Those of a list are found behind the bullet.
"""
# Where a comment begins.
text = """
What is data is not counted."""


class Row:
    size: int
    """Of the row, in bytes."""

    def show(self):
        """Whether Nobody asks."""
'''


class Count(unittest.TestCase):
    def test_rust(self):
        lines, findings = plain_english.count(".rs", RUST)
        self.assertEqual(lines, 4)
        self.assertEqual([number for number, _ in findings], [1, 3, 5])

    def test_python(self):
        lines, findings = plain_english.count(".py", PYTHON)
        self.assertEqual(lines, 5)
        self.assertEqual([number for number, _ in findings], [3, 5, 12, 15])

    def test_words_that_only_begin_alike_are_no_findings(self):
        for text in ("Often it is empty.", "Thosewords are none.", "Offsets of pages.", "A number of rows.", "Wherefore not?"):
            self.assertFalse(plain_english.is_finding(text), text)


class Limits(unittest.TestCase):
    def run_lint(self, percent):
        """Returns the status for a folder of which half of the comment lines are findings."""
        with tempfile.TemporaryDirectory() as root, contextlib.redirect_stderr(io.StringIO()) as said:
            folder = pathlib.Path(root) / "crate"
            folder.mkdir()
            (folder / "lib.rs").write_text("// What it is.\n// Returns it.\n")
            patches = {"ROOT": pathlib.Path(root), "LIMITS": {"crate": percent}}
            with mock.patch.multiple(plain_english, **patches), mock.patch("sys.argv", ["lint"]):
                with contextlib.redirect_stdout(io.StringIO()):
                    return plain_english.main(), said.getvalue()

    def test_a_folder_at_its_limit_passes(self):
        self.assertEqual(self.run_lint(50), (0, ""))

    def test_a_folder_without_a_limit_fails_and_is_named(self):
        """Three crates were missing in the table, and nothing checked their comments."""
        with tempfile.TemporaryDirectory() as root, contextlib.redirect_stderr(io.StringIO()) as said:
            for folder in ("crates/new", "crates/target", "tools", ".hidden", "target", "data"):
                (pathlib.Path(root) / folder).mkdir(parents=True)
            for file in ("crates/new/lib.rs", "crates/target/lib.rs", "tools/run.py", ".hidden/a.py", "target/a.rs", "data/a.csv"):
                (pathlib.Path(root) / file).write_text("")
            patches = {"ROOT": pathlib.Path(root), "LIMITS": {"tools": 1}}
            with mock.patch.multiple(plain_english, **patches), mock.patch("sys.argv", ["lint"]):
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(plain_english.main(), 1)
        self.assertEqual(said.getvalue(), "crates/new: the folder has sources and no limit; add it to LIMITS in lint\n")

    def test_a_folder_over_its_limit_fails_and_is_named(self):
        status, said = self.run_lint(49)
        self.assertEqual(status, 1)
        self.assertIn("crate: too many comments", said)


if __name__ == "__main__":
    unittest.main()
