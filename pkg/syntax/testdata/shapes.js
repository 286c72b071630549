/** A shape. */
export class Shape extends Base {
  static count = 0;
  constructor(name) { super(); }
  get area() { return 1; }
  #hidden() {}
}

export default function draw(a) {
  return () => a;
}

const LIMIT = 10;
const add = (a, b) => a + b;
let handler = function () {};
module.exports.run = function run() {};
exports.stop = () => {};
(function () {
  function inside() {}
})();
const api = {
  list() { return 1; },
  get: function () {},
};

export const { GET, POST: post = 1, auth: { user, ...others } } = handlers
const [first, , second] = pair()
