"""The checks of integers, texts and composite keys accept the right rows and no others."""

import functools
import unittest

from suite.articles import composite, integers
from suite.benchmark import Wrong, verify_and

LOW = (1 << 32) - 1


def facts(values):
    """Returns the row that SQLite would answer."""
    return len(values), min(values), max(values), sum(value >> 32 for value in values), sum(value & LOW for value in values)


def spread(rows, bits):
    least, _, step = integers.spacing(rows, bits)
    return [least + row % 2**bits * step for row in range(rows)]


class Integers(unittest.TestCase):
    def test_values_of_each_width_have_the_sum_that_is_computed(self):
        for bits in (8, 16, 32, 64):
            for rows in (1, 7, 256, 300, 70_000):
                with self.subTest(bits=bits, rows=rows):
                    integers.verify_spread(bits, facts(spread(rows, bits)), rows)

    def test_one_value_twice_and_another_never_is_wrong(self):
        for bits in (8, 16, 32, 64):
            values = spread(1000, bits)
            values[5] = values[6]
            with self.subTest(bits=bits), self.assertRaises(Wrong):
                integers.verify_spread(bits, facts(values), 1000)

    def test_other_wrong_rows(self):
        values = spread(100, 32)
        for verify, row in (
            (integers.verify_32, facts(values[1:])),
            (integers.verify_keys, facts(range(100))),
            (integers.verify_bools, facts([0] * 49 + [1] * 51)),
            (functools.partial(integers.verify_same, 1), facts([0] * 100)),
            (functools.partial(verify_and, 3, integers.verify_keys), (*facts(range(1, 101)), 1)),
            # Values of another width.
            (functools.partial(integers.verify_spread, 64), facts(values)),
            (integers.verify_indexed, (*facts(values), 99)),
            (integers.verify_constant, (100, 1, 100, 0, 0, 0, 99, 500, 0)),
            (integers.verify_random, (100, 1, 100, 0, 0, 0, 0, 500, 50)),
        ):
            with self.subTest(verify), self.assertRaises(Wrong):
                verify(row, 100)

    def test_texts_have_one_of_the_shapes(self):
        integers.verify_texts(2, 512, (10, 2, 512, 512, 10_240, 0, 1), 10)
        for row in (
            (10, 2, 256, 256, 5_120, 0, 1), (10, 1, 512, 512, 5_120, 0, 1), (10, 2, 512, 513, 10_240, 0, 1), (10, 2, 512, 512, 10_239, 0, 1),
            (10, 2, 512, 512, 10_240, 1, 1), (10, 2, 512, 512, 10_240, 0, 0), (9, 2, 512, 512, 10_240, 0, 1),
        ):  # fmt: skip
            with self.subTest(row), self.assertRaises(Wrong):
                integers.verify_texts(2, 512, row, 10)


class Composite(unittest.TestCase):
    def test_keys(self):
        composite.verify_keyed((10, 0, 9, 4500, 45, 45, 320, 0, 1), 10)
        for row in ((10, 0, 9, 4500, 45, 45, 320, 1, 1), (10, 0, 9, 4499, 45, 45, 320, 0, 1), (10, 0, 9, 4500, 45, 45, 320, 0, 0)):
            with self.subTest(row), self.assertRaises(Wrong):
                composite.verify_keyed(row, 10)

    def test_long_texts(self):
        composite.verify_long(10_000, (2, 10_000, 10_000, 97 + 98, 112 + 113), 2)
        for row in ((2, 10_000, 10_000, 97 + 97, 112 + 113), (2, 10_001, 10_001, 97 + 98, 113 + 114)):
            with self.subTest(row), self.assertRaises(Wrong):
                composite.verify_long(10_000, row, 2)


if __name__ == "__main__":
    unittest.main()
