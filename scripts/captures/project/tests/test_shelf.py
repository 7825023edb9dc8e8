import io
import unittest

from stock.shelf import BadLine, read, short, totals


class ShelfTest(unittest.TestCase):
    def test_counts_add_up_over_shelves(self):
        lines = read(io.StringIO("nails,A1,20,50\nnails,B2,40,50\n"))
        self.assertEqual(totals(lines), {"nails": 60})
        self.assertEqual(short(lines), {})

    def test_the_largest_least_counts(self):
        lines = read(io.StringIO("screws,A1,20,10\nscrews,B2,5,40\n"))
        self.assertEqual(short(lines), {"screws": 15})

    def test_bad_lines_are_named(self):
        with self.assertRaises(BadLine) as caught:
            read(io.StringIO("nails,A1,many,50\n"))
        self.assertEqual(caught.exception.number, 1)


if __name__ == "__main__":
    unittest.main()
