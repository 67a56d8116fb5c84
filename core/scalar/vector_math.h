#ifndef FEATHERSTORM_VECTOR_MATH
#define FEATHERSTORM_VECTOR_MATH
// Elementary functions without branches, for a float, a double, or a GCC vector of either.
//
// One text with four readers: it is an ordinary header for the run-time pack type, it is put in front of every
// emitted program (so it includes nothing of the project), nvcc compiles it for float and double, and the assembler
// records its instructions (host/assemble/recorded.h).
//   function   largest error, float        largest error, double       for
//   sincos     1e-7, relative near 0       2e-16, relative near 0      |x| <= 1e4 float, 1e6 double (with FMA 1e5, 1e9)
//   exp        2e-7 relative               4e-16 relative              outside -87.3 .. 88.3 (-708 .. 709) it saturates
//   log        2e-7 relative               4e-16 relative              positive normal x
//   atan2      3e-7 absolute               5e-16 absolute              all; atan2(0, 0) = 0
//   floor      exact                       exact                       all
// Beyond its range sincos loses digits in proportion to |x|; beyond 6e6 (7e15) its results mean nothing, and may be
// large. Divisions, sqrt and floor round as the processor does.
// NaN and infinity are not provided for. Compile without -ffast-math: rounding to the nearest integer is done by
// adding and subtracting 1.5 * 2^(digits), which -fassociative-math would remove.
// Polynomials: S. Moshier, Cephes library (sin, cos, exp, atan); log by the series of atanh.
#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#ifdef __CUDACC__
#define FEATHERSTORM_INLINE __host__ __device__ __forceinline__
#else
#define FEATHERSTORM_INLINE inline __attribute__((always_inline))
#endif

namespace featherstorm {
namespace vector_math {

// What one lane of V holds, and integers of the same shape.
template <class V>
struct Lane {
  typedef decltype(+V{}[0]) Real;
  typedef decltype(V{} < V{}) Bits;
};
template <>
struct Lane<float> {
  typedef float Real;
  typedef int Bits;
};
template <>
struct Lane<double> {
  typedef double Real;
  typedef long long Bits;
};

// The same bits as another type.
template <class To, class From>
FEATHERSTORM_INLINE To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

// x + 1.5 * 2^23 (2^52) has x, rounded to the nearest integer, in its low bits.
template <class V>
FEATHERSTORM_INLINE typename Lane<V>::Real rounding_shift() {
  if constexpr (sizeof(typename Lane<V>::Real) == 4) {
    return 12582912.0f;
  } else {
    return 6755399441055744.0;
  }
}

// c ? x : y, lane by lane
template <class C, class V>
FEATHERSTORM_INLINE V select(C c, V x, V y) {
  return c ? x : y;
}
template <class V>
FEATHERSTORM_INLINE V min(V x, V y) {
  return select(x < y, x, y);
}
template <class V>
FEATHERSTORM_INLINE V max(V x, V y) {
  return select(x > y, x, y);
}
template <class V>
FEATHERSTORM_INLINE V abs(V x) {
  typedef typename Lane<V>::Real Real;
  V minus = -x;
  return select(x < Real(0), minus, x);
}
template <class V>
FEATHERSTORM_INLINE V rcp(V x) {
  return typename Lane<V>::Real(1) / x;
}

FEATHERSTORM_INLINE float sqrt(float x) { return ::sqrtf(x); }
FEATHERSTORM_INLINE double sqrt(double x) { return ::sqrt(x); }
template <class V>
FEATHERSTORM_INLINE V sqrt(V x) {
  typedef typename Lane<V>::Real Real;
  for (unsigned i = 0; i < sizeof(V) / sizeof(Real); ++i) x[i] = sqrt(Real(x[i]));
  return x;
}

// Largest integer <= x; numbers from 2^23 (2^52) on are integers already.
template <class V>
FEATHERSTORM_INLINE V floor(V x) {
  typedef typename Lane<V>::Real Real;
  const Real shift = rounding_shift<V>(), whole = shift / Real(1.5);
  V size = abs(x);
  V n = (size + whole) - whole;  // |x| to the nearest integer
  V minus = -n;
  n = select(x < Real(0), minus, n);
  V below = n - Real(1);
  n = select(n > x, below, n);
  return select(size < whole, n, x);
}

// Sine and cosine: x = n pi/2 + r with |r| <= pi/4; two polynomials in r, exchanged and negated by the bits of n.
template <class V>
FEATHERSTORM_INLINE void sincos(V x, V& s, V& c) {
  typedef typename Lane<V>::Real Real;
  typedef typename Lane<V>::Bits Bits;
  const Real shift = rounding_shift<V>();
  V shifted = x * Real(0.63661977236758134308) + shift;
  V n = shifted - shift;
  Bits quadrant = bits_as<Bits>(shifted);

  // pi/2 in three parts; n times the first two is exact
  V r, sine, cosine;
  if constexpr (sizeof(Real) == 4) {
    r = ((x - n * 1.5703125f) - n * 4.837512969970703125e-4f) - n * 7.54978995489188216e-8f;
    V z = r * r;
    sine = -1.9515295891e-4f * z + 8.3321608736e-3f;
    sine = sine * z - 1.6666654611e-1f;
    cosine = 2.443315711809948e-5f * z - 1.388731625493765e-3f;
    cosine = cosine * z + 4.166664568298827e-2f;
    sine = (sine * z) * r + r;
    cosine = (cosine * z - 0.5f) * z + 1.0f;
  } else {
    r = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    V z = r * r;
    sine = 1.58962301576546568060e-10 * z - 2.50507477628578072866e-8;
    sine = sine * z + 2.75573136213857245213e-6;
    sine = sine * z - 1.98412698295895385996e-4;
    sine = sine * z + 8.33333333332211858878e-3;
    sine = sine * z - 1.66666666666666307295e-1;
    cosine = -1.13585365213876817300e-11 * z + 2.08757008419747316778e-9;
    cosine = cosine * z - 2.75573141792967388112e-7;
    cosine = cosine * z + 2.48015872888517045348e-5;
    cosine = cosine * z - 1.38888888888730564116e-3;
    cosine = cosine * z + 4.16666666666665929218e-2;
    sine = (sine * z) * r + r;
    cosine = (cosine * z - 0.5) * z + 1.0;
  }

  // quadrant: 0 (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s); its bits 0 and 1, moved to the sign's place
  typedef typename Lane<Real>::Bits Word;
  const int last = 8 * sizeof(Real) - 1;
  const Word sign = Word(1) << last;
  Bits odd = quadrant << last, high = quadrant << (last - 1);
  V swapped_sine = select(odd < 0, cosine, sine);
  V swapped_cosine = select(odd < 0, sine, cosine);
  s = bits_as<V>(bits_as<Bits>(swapped_sine) ^ (high & sign));
  c = bits_as<V>(bits_as<Bits>(swapped_cosine) ^ ((high ^ odd) & sign));
}

template <class V>
FEATHERSTORM_INLINE V sin(V x) {
  V s, c;
  sincos(x, s, c);
  return s;
}
template <class V>
FEATHERSTORM_INLINE V cos(V x) {
  V s, c;
  sincos(x, s, c);
  return c;
}

// e^x = 2^n e^r, x = n log 2 + r with |r| <= log(2) / 2
template <class V>
FEATHERSTORM_INLINE V exp(V x) {
  typedef typename Lane<V>::Real Real;
  typedef typename Lane<V>::Bits Bits;
  const Real shift = rounding_shift<V>();
  const bool single = sizeof(Real) == 4;
  const Real low = single ? Real(-87.3) : Real(-708), high = single ? Real(88.3) : Real(709);
  x = max(V{} + low, x);
  x = min(V{} + high, x);
  V shifted = x * Real(1.44269504088896340736) + shift;
  V n = shifted - shift, p;
  if constexpr (single) {
    V r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    p = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = (p * r) * r + r + 1.0f;
  } else {
    V r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    p = r * (1 / 6227020800.0) + (1 / 479001600.0);  // Taylor, 1 / 13! first
    p = p * r + (1 / 39916800.0);
    p = p * r + (1 / 3628800.0);
    p = p * r + (1 / 362880.0);
    p = p * r + (1 / 40320.0);
    p = p * r + (1 / 5040.0);
    p = p * r + (1 / 720.0);
    p = p * r + (1 / 120.0);
    p = p * r + (1 / 24.0);
    p = p * r + (1 / 6.0);
    p = p * r + 0.5;
    p = (p * r) * r + r + 1.0;
  }
  const int mantissa = single ? 23 : 52;
  return bits_as<V>(bits_as<Bits>(p) + (bits_as<Bits>(shifted) << mantissa));
}

// log x = n log 2 + log m with sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(f), f = (m - 1) / (m + 1)
template <class V>
FEATHERSTORM_INLINE V log(V x) {
  typedef typename Lane<V>::Real Real;
  typedef typename Lane<V>::Bits Bits;
  typedef typename Lane<Real>::Bits Word;
  const bool single = sizeof(Real) == 4;
  const int mantissa = single ? 23 : 52;
  const Word one = Word(single ? 0x3f800000LL : 0x3ff0000000000000LL);
  const Word root = Word(single ? 0x3f3504f3LL : 0x3fe6a09e667f3bcdLL);  // sqrt(1/2)
  Bits exponent = ((bits_as<Bits>(x) - (root - one)) >> mantissa) - (one >> mantissa);
  V m = bits_as<V>(bits_as<Bits>(x) - (exponent << mantissa));
  V shift = V{} + rounding_shift<V>();
  V n = bits_as<V>(bits_as<Bits>(shift) + exponent) - shift;

  V f = (m - Real(1)) / (m + Real(1)), z = f * f, p;
  if constexpr (single) {
    p = z * (2 / 11.0f) + (2 / 9.0f);
  } else {
    p = z * (2 / 21.0) + (2 / 19.0);
    p = p * z + (2 / 17.0);
    p = p * z + (2 / 15.0);
    p = p * z + (2 / 13.0);
    p = p * z + (2 / 11.0);
    p = p * z + (2 / 9.0);
  }
  p = p * z + Real(2 / 7.0);
  p = p * z + Real(2 / 5.0);
  p = p * z + Real(2 / 3.0);
  V log_m = (p * z) * f + (f + f);
  // log 2 in two parts, n times the first is exact
  if constexpr (single) return (log_m - n * 2.12194440e-4f) + n * 0.693359375f;
  else return (log_m + n * 1.90821492927058770002e-10) + n * 6.93147180369123816490e-01;
}

// Angle of the point (x, y): an arc tangent of at most tan(pi/8), then mirrored into its octant.
template <class V>
FEATHERSTORM_INLINE V atan2(V y, V x) {
  typedef typename Lane<V>::Real Real;
  const Real pi = Real(3.14159265358979323846), least = sizeof(Real) == 4 ? Real(1e-37) : Real(1e-300);
  V ax = abs(x), ay = abs(y);
  V low = min(ax, ay), high = max(max(ax, ay), V{} + least);

  // atan(low / high) = pi/4 + atan((low - high) / (low + high))
  auto steep = low > high * Real(0.41421356237309504880);
  V below = low - high, above = low + high;
  V t = select(steep, below, low) / select(steep, above, high), z = t * t, p;
  if constexpr (sizeof(Real) == 4) {
    p = 8.05374449538e-2f * z - 1.38776856032e-1f;
    p = p * z + 1.99777106478e-1f;
    p = p * z - 3.33329491539e-1f;
  } else {
    p = -8.750608600031904122785e-1 * z - 1.615753718733365076637e1;
    p = p * z - 7.500855792314704667340e1;
    p = p * z - 1.228866684490136173410e2;
    p = p * z - 6.485021904942025371773e1;
    V q = z + 2.485846490142306297962e1;
    q = q * z + 1.650270098316988542046e2;
    q = q * z + 4.328810604912902668951e2;
    q = q * z + 4.853903996359136964868e2;
    q = q * z + 1.945506571482613964425e2;
    p = p / q;
  }
  V angle = (p * z) * t + t;
  V raised = angle + pi / 4;
  angle = select(steep, raised, angle);
  V mirrored = pi / 2 - angle;
  angle = select(ay > ax, mirrored, angle);
  V turned = pi - angle;
  angle = select(x < Real(0), turned, angle);
  V below_axis = -angle;
  return select(y < Real(0), below_axis, angle);
}

}  // namespace vector_math
}  // namespace featherstorm
#endif
