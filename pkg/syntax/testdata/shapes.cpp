#include <vector>
namespace geo { namespace inner {
class Shape : public Base {
public:
  explicit Shape(int a);
  ~Shape() {}
  virtual int area() const = 0;
  bool operator==(const Shape &o) const { return true; }
  int size_ = 0;
  enum class Kind { A, B };
};
template <typename T> struct Box { T value; T get() { return value; } };
}}
int geo::inner::Shape::count() { return 1; }
template <typename T>
T max_of(T a, T b) { return a > b ? a : b; }
using Pair = std::pair<int, int>;
const int kLimit = 10;
extern "C" { void c_api(int a) {} }
auto trail(int a) -> int { return a; }
namespace a::b { void nested() {} }
