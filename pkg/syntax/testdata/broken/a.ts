export function one(a: number): number {
  if (a > 1) {
    return call("x", [a]);
  }
  return a;
}

/** two */
export function two(b: string): string {
  const list = [b].map((x) => {
    return x + "y";
  });
  return list.join("");
}

class Box {
  width = 1;

  area(): number {
    if (this.width > 0) {
      return this.width * 2;
    }
    return 0;
  }

  grow(by: number): void {
    this.width += by;
  }
}

export function three(): void {
  one(3);
}
