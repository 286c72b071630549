def total(prices, discount=0):
    """The sum of prices, less a discount."""
    count = len(prices)
    if count == 0:
        return 0
    return sum(prices) - discount


def average(prices):
    return total(prices) / len(prices)
