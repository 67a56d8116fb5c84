// A number type that records instructions. With it as the scalar, core/scalar/vector_math.h gives the assembler the
// instructions for sines, exponentials, logarithms and arc tangents.
#pragma once
#include "core/scalar/vector_math.h"
#include "host/assemble/straight_line.h"

namespace featherstorm {

// Receives instructions and constants.
class Recorder {
 public:
  virtual int put(Code code, int a, int b = -1, int c = -1, int number = 0) = 0;  // returns the result
  virtual int constant(double x) = 0;
  virtual int bits(std::uint64_t b) = 0;

 protected:
  ~Recorder() = default;
};

template <class Real> struct RecordedProduct;
template <class Real> struct RecordedMask;

// A value of a recorder, or a plain number as long as it has met no recorder.
template <class Real> struct Recorded {
  Recorder* to = nullptr;
  int value = -1;
  Real number = 0;

  Recorded() = default;
  Recorded(Recorder& r, int v) : to(&r), value(v) {}
  Recorded(Real x) : number(x) {}
  int in(Recorder& r) const { return to ? value : r.constant(number); }
  static Recorded of(Code code, const Recorded& a, const Recorded& b) {
    Recorder& r = *(a.to ? a.to : b.to);
    return {r, r.put(code, a.in(r), b.in(r))};
  }

  friend Recorded operator+(Recorded a, Recorded b) {
    return a.to || b.to ? of(Code::Add, a, b) : Recorded(a.number + b.number);
  }
  friend Recorded operator-(Recorded a, Recorded b) { return of(Code::Sub, a, b); }
  friend RecordedProduct<Real> operator*(Recorded a, Recorded b) { return {a, b}; }
  friend Recorded operator/(Recorded a, Recorded b) { return of(Code::Div, a, b); }
  friend Recorded operator-(Recorded a) {
    return {*a.to, a.to->put(Code::Xor, a.value, a.to->bits(std::uint64_t(1) << (8 * sizeof(Real) - 1)))};
  }
  friend RecordedMask<Real> operator<(Recorded a, Recorded b) {
    const Recorded m = of(Code::Less, a, b);
    return {m.to, m.value};
  }
  friend RecordedMask<Real> operator>(Recorded a, Recorded b) { return b < a; }
};

// A product that waits for the sum it becomes part of, so that both are fused as compilers do.
template <class Real> struct RecordedProduct {
  Recorded<Real> a, b;

  operator Recorded<Real>() const { return Recorded<Real>::of(Code::Mul, a, b); }
  Recorded<Real> with(Code code, const Recorded<Real>& c) const {
    Recorder& r = *(a.to ? a.to : b.to);
    return {r, r.put(code, a.in(r), b.in(r), c.in(r))};
  }
  friend Recorded<Real> operator+(RecordedProduct p, Recorded<Real> c) { return p.with(Code::MulAdd, c); }
  friend Recorded<Real> operator+(Recorded<Real> c, RecordedProduct p) { return p.with(Code::MulAdd, c); }
  friend Recorded<Real> operator-(RecordedProduct p, Recorded<Real> c) { return p.with(Code::MulSub, c); }
  friend Recorded<Real> operator-(Recorded<Real> c, RecordedProduct p) { return p.with(Code::SubMul, c); }
};

// The lanes as integers. The members are those of Recorded, so that a value can be reinterpreted.
template <class Real> struct RecordedBits {
  using Word = typename vector_math::Lane<Real>::Bits;
  Recorder* to;
  int value;
  Real number;

  int in(Recorder& r) const { return to ? value : r.constant(number); }
  static RecordedBits of(Code code, const RecordedBits& a, const RecordedBits& b) {
    Recorder& r = *(a.to ? a.to : b.to);
    return {&r, r.put(code, a.in(r), b.in(r)), 0};
  }
  RecordedBits with(Code code, Word b) const {
    return {to, to->put(code, value, to->bits(sizeof(Word) == 4 ? std::uint32_t(b) : std::uint64_t(b))), 0};
  }
  friend RecordedBits operator+(RecordedBits a, RecordedBits b) { return of(Code::IntegerAdd, a, b); }
  friend RecordedBits operator-(RecordedBits a, RecordedBits b) { return of(Code::IntegerSub, a, b); }
  friend RecordedBits operator-(RecordedBits a, Word b) { return a.with(Code::IntegerSub, b); }
  friend RecordedBits operator^(RecordedBits a, RecordedBits b) { return of(Code::Xor, a, b); }
  friend RecordedBits operator&(RecordedBits a, Word b) { return a.with(Code::And, b); }
  friend RecordedBits operator<<(RecordedBits a, int n) {
    return {a.to, a.to->put(Code::ShiftLeft, a.value, -1, -1, n), 0};
  }
  // only for numbers that are not negative
  friend RecordedBits operator>>(RecordedBits a, int n) {
    return {a.to, a.to->put(Code::ShiftRight, a.value, -1, -1, n), 0};
  }
  // the sign bit is the condition, so nothing is computed
  friend RecordedMask<Real> operator<(RecordedBits a, [[maybe_unused]] int zero) { return {a.to, a.value}; }
};

// A condition: the sign bits of a value.
template <class Real> struct RecordedMask {
  Recorder* to;
  int value;
};
template <class Real> Recorded<Real> select(RecordedMask<Real> c, Recorded<Real> x, Recorded<Real> y) {
  return {*c.to, c.to->put(Code::Select, c.value, x.in(*c.to), y.in(*c.to))};
}
template <class Real> Recorded<Real> min(Recorded<Real> x, Recorded<Real> y) {
  return Recorded<Real>::of(Code::Min, x, y);
}
template <class Real> Recorded<Real> max(Recorded<Real> x, Recorded<Real> y) {
  return Recorded<Real>::of(Code::Max, x, y);
}
template <class Real> Recorded<Real> abs(Recorded<Real> x) {
  return {*x.to, x.to->put(Code::And, x.value, x.to->bits(~std::uint64_t(0) >> (65 - 8 * sizeof(Real))))};
}

namespace vector_math {
template <class T> struct Lane<Recorded<T>> {
  typedef T Real;
  typedef RecordedBits<T> Bits;
};
}  // namespace vector_math

}  // namespace featherstorm
