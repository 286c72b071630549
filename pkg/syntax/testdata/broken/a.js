function one(a) {
  if (a > 1) {
    return call("x", [a]);
  }
  return a;
}

const two = (b) => {
  const list = [b].map((x) => {
    return x + "y";
  });
  return list.join("");
};

class Box {
  area() {
    if (this.width > 0) {
      return 1;
    }
    return 0;
  }
}

function three() {
  one(3);
}
