import unittest

from prices import average, total


class Prices(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)
        self.assertEqual(total([], 1), 0)

    def test_average(self):
        self.assertEqual(average([1, 2, 3]), 2)
