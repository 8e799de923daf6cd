"""The measures of Pollock are those of its definition, and a dialect becomes the options that state it."""

import importlib.util
import pathlib
import sys
import tempfile
import types
import unittest

import pollock
import pollock_readers

if importlib.util.find_spec("price_parser") is None:
    # Prices and dates need packages; the cases below have none.
    sys.modules["price_parser"] = types.SimpleNamespace(Price=types.SimpleNamespace(fromstring=lambda _: types.SimpleNamespace(currency=None, amount=None)))


class Measures(unittest.TestCase):
    def test_agreement_is_that_of_multisets(self):
        for measured, expected in zip(pollock.agreement(["a", "a", "b"], ["a", "b", "c", "d"]), [2 / 3, 1 / 2, 4 / 7], strict=True):
            self.assertAlmostEqual(measured, expected)
        self.assertEqual(pollock.agreement([], ["a"]), [1.0] * 3)
        self.assertEqual(pollock.agreement(["a"], []), [0.0] * 3)

    def test_a_file_gives_ten_points_at_most(self):
        clean = [["a", "b"], ["1", "x"], ["2", "y"]]
        self.assertEqual(sum(pollock.points(clean, clean)), 10)
        self.assertEqual(sum(pollock.points(clean, None)), 0)
        self.assertEqual(sum(pollock.points([], [])), 10)
        [success, *header] = pollock.points(clean, [["a", "c"], ["1", "x"], ["2", "z"]])[:4]
        self.assertEqual((success, header), (1, [0.5, 0.5, 0.5]))


    def test_names_count_unless_they_are_invented(self):
        """A file without a header got all points only from systems that take its first record for one."""
        with tempfile.TemporaryDirectory() as folder:
            corpus = pathlib.Path(folder)
            for kind in ("csv", "clean"):
                (corpus / kind).mkdir()
                (corpus / kind / "x.csv").write_text("1,a\n2,b\n")
            rows = [["c1", "c2"], ["1", "a"], ["2", "b"]]
            scores = {invented: pollock.score([{"file": "x.csv", "rows": rows, "invented": invented}], corpus, {"x.csv": 1}) for invented in (True, False)}
        self.assertEqual(scores[True]["not invented"], {"simple": 10, "weighted": 10})
        self.assertEqual(scores[False]["not invented"], {name: scores[True][name] for name in ("simple", "weighted")})
        self.assertLess(scores[True]["simple"], 7)


class Dialects(unittest.TestCase):
    def test_parameters_become_options(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.json"
            path.write_text(
                '{"delimiter": ";", "quotechar": "", "escapechar": "", "row_delimiter": "\\n", "header_lines": 2,'
                ' "preamble_lines": 3, "column_names": ["a a", "b b"], "n_columns": 2}'
            )
            options = pollock.dialect(pollock_readers.Parameters(path))
        expected = "--delimiter ; --quote \" --skip 5 --no-header --columns"
        self.assertEqual((options[:-1], options[-1]), (expected.split(" "), "a a,b b"))


if __name__ == "__main__":
    unittest.main()
