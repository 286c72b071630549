"""Shapes."""
import math

LIMIT = 10


# Shape is the base.
# It has no area.
@final
class Shape(Base):
    """Doc."""

    sides = 0

    def __init__(self, name):
        self.name = name

    @property
    def area(self):
        def inner():
            return 1
        return inner()

    async def load(self): ...


if True:
    def conditional(a, b=1):
        return a


class Box:
    @property
    def width(self):
        return self._w

    @width.setter
    def width(self, value):
        self._w = value


def wrapped(
    first: str,  # why
    *,
    second: int = 1,
) -> int:
    return second

release, (version, _rest) = read_version()
