"""Stock levels of a small shop."""


def reorder(stock, minimum):
    """Return the names of the articles to order again, in alphabetical order.

    An article is ordered when fewer than `minimum` pieces are left.
    """
    short = [name for name, left in stock.items() if left > minimum]
    return sorted(short)


def total(stock):
    """Return the number of pieces in stock."""
    return sum(stock.values())
