#ifndef GEO_MACROS_HPP
#define GEO_MACROS_HPP

#include <string>
#if GEO_HAS_INCLUDE(<version>)
#  include <version>
#endif
#define GEO_FAST
#define GEO_CHECK(x)   \
  do {                 \
    check(x); /* why */ \
  } while (0)

GEO_BEGIN_NAMESPACE
namespace detail {

/// A shape.
template <typename T, GEO_ENABLE_IF(!std::is_void<T>::value)>
class GEO_API Shape : public Base {
 public:
  GEO_CONSTEXPR Shape(int a) : a_(a) {}
  GEO_API ~Shape() GEO_NOEXCEPT;
  GEO_NODISCARD auto area(const Options &o = {}) const GEO_NOEXCEPT -> double;
  explicit operator bool() const { return a_ > 0; }
  MOCK_METHOD(int, draw, (const std::string &, int));

 private:
  int a_, b_;
};

struct GEO_ATTRIBUTE(packed) Point {
  int x;
};

GEO_API int count(FILE *f, GEO_FORMAT const char *name);
extern GEO_API void GEO_CALL reset(void);
typedef void(GEO_CALL *handler)(int);

#ifdef GEO_WIDE
GEO_INLINE void print(const wchar_t *s) {
#else
GEO_INLINE void print(const char *s) {
#endif
  GEO_TRY {
    put(s);
  }
  GEO_CATCH(...) {
  }
}

#ifdef __cplusplus
extern "C" {
#endif
void c_style(int a);
#ifdef __cplusplus
}
#endif

GEO_DEFINE_LIST(shapes)

template <>
struct hash<Point> {
  GEO_FUNC size_t operator()(Point p) const {
    if GEO_CONSTEXPR (sizeof(p) > 4) return 1;
    GEO_FOREACH(x, p) { use(x); }
    return 2;
  }
};

TEST(ShapeTest, HasArea) {
  EXPECT_EQ(1, 1);
}

}  // namespace detail
GEO_END_NAMESPACE

#endif
