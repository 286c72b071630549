def one(a):
    if a > 1:
        return call("x", [a])
    return a


class Box:
    def two(self, b):
        for x in [b]:
            b += "y"
        return b

    def more(self):
        return {"a": 1}


def three():
    return one(3)
