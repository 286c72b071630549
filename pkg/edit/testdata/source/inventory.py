"""Keeps count of the parts in a workshop's store."""

import json
import logging
from collections import defaultdict
from pathlib import Path

log = logging.getLogger(__name__)


class OutOfStock(Exception):
    """More was asked for than the shelf holds."""

    def __init__(self, part, wanted, left):
        super().__init__(f"{part}: {wanted} wanted, {left} left")
        self.part = part
        self.wanted = wanted
        self.left = left


class Shelf:
    """One shelf with parts on it."""

    def __init__(self, name, capacity=500):
        self.name = name
        self.capacity = capacity
        self.parts = defaultdict(int)

    def put(self, part, count):
        if count <= 0:
            raise ValueError("count must be positive")
        total = sum(self.parts.values()) + count
        if total > self.capacity:
            raise ValueError(f"{self.name} holds at most {self.capacity}")
        self.parts[part] += count
        log.debug("put %d of %s on %s", count, part, self.name)

    def take(self, part, count):
        left = self.parts.get(part, 0)
        if left < count:
            raise OutOfStock(part, count, left)
        self.parts[part] = left - count
        if self.parts[part] == 0:
            del self.parts[part]
        log.debug("took %d of %s from %s", count, part, self.name)

    def report(self):
        for part in sorted(self.parts):
            yield part, self.parts[part]


class Store:
    """Several shelves, and what goes between them."""

    def __init__(self, path):
        self.path = Path(path)
        self.shelves = {}

    def shelf(self, name):
        if name not in self.shelves:
            self.shelves[name] = Shelf(name)
        return self.shelves[name]

    def move(self, part, count, source, target):
        taken = self.shelf(source)
        given = self.shelf(target)
        taken.take(part, count)
        try:
            given.put(part, count)
        except ValueError:
            taken.put(part, count)
            raise
        log.info("moved %d of %s", count, part)

    def load(self):
        if not self.path.exists():
            log.warning("%s does not exist", self.path)
            return
        with self.path.open() as stream:
            data = json.load(stream)
        for name, parts in data.items():
            shelf = self.shelf(name)
            for part, count in parts.items():
                shelf.put(part, count)

    def save(self):
        data = {
            name: dict(shelf.report())
            for name, shelf in self.shelves.items()
        }
        with self.path.open("w") as stream:
            json.dump(data, stream, indent=2)
            stream.write("\n")

    def find(self, part):
        found = []
        for name, shelf in self.shelves.items():
            count = shelf.parts.get(part, 0)
            if count > 0:
                found.append((name, count))
        return sorted(found, key=lambda pair: -pair[1])


def total(store):
    counts = defaultdict(int)
    for shelf in store.shelves.values():
        for part, count in shelf.report():
            counts[part] += count
    return dict(counts)


def main(path, command, *args):
    store = Store(path)
    store.load()
    if command == "put":
        name, part, count = args
        store.shelf(name).put(part, int(count))
    elif command == "take":
        name, part, count = args
        store.shelf(name).take(part, int(count))
    elif command == "find":
        for name, count in store.find(args[0]):
            print(f"{count:6d} {name}")
    else:
        for part, count in sorted(total(store).items()):
            print(f"{count:6d} {part}")
    store.save()
