// A scalar that counts its operations, for tests of the operation counts that RBDA states.
#pragma once
#include <cmath>

namespace featherstorm::testing {

struct Operations {
  int add = 0, mul = 0, rcp = 0, sqrt = 0;
  bool operator==(const Operations&) const = default;
};

struct Counting {
  double x = 0;
  static inline Operations count;

  Counting() = default;
  Counting(double value) : x(value) {}
  friend Counting operator+(Counting a, Counting b) { return count.add++, Counting(a.x + b.x); }
  friend Counting operator-(Counting a, Counting b) { return count.add++, Counting(a.x - b.x); }
  friend Counting operator*(Counting a, Counting b) { return count.mul++, Counting(a.x * b.x); }
  friend Counting operator-(Counting a) { return Counting(-a.x); }  // a sign change does not count
  Counting& operator+=(Counting b) { return *this = *this + b; }
  friend Counting rcp(Counting a) { return count.rcp++, Counting(1 / a.x); }
  friend Counting sqrt(Counting a) { return count.sqrt++, Counting(std::sqrt(a.x)); }
};

// The operations of f on Counting numbers.
template <class F> Operations operations(F f) {
  Counting::count = {};
  f();
  return Counting::count;
}

}  // namespace featherstorm::testing
