import unittest

import inventory

STOCK = {"nails": 120, "bolts": 3, "hinges": 0, "locks": 8}


class InventoryTest(unittest.TestCase):
    def test_reorder(self):
        self.assertEqual(inventory.reorder(STOCK, 5), ["bolts", "hinges"])

    def test_reorder_nothing(self):
        self.assertEqual(inventory.reorder({"nails": 120}, 5), [])

    def test_total(self):
        self.assertEqual(inventory.total(STOCK), 131)


if __name__ == "__main__":
    unittest.main()
