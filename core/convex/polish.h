// Refines the nearest points or the contact of two convex bodies to full precision, if one of the bodies is round.
//
// With w(n) the farthest difference along n, the answer satisfies w = d n. Near the answer each body is a piece of
// surface,
//
//   p(n) + sum_k t_k e_k,   dp = H dn      p the middle of a flat part, e_k its directions, none if all is round
//
// so n stays perpendicular to all e_k. Newton's step uses the remaining directions tau_i (two, one or none):
//
//   (tau^T H tau - d 1) s = -tau^T w,   n <- n + tau s
//
// At the end the t_k follow from w + sum t_k e_k = d n. They must lie within the flat parts.
#pragma once
#include "core/convex/convex_body.h"

namespace featherstorm {

template <class T> struct SurfacePiece {
  Vec3<T> p = zero3<T>();
  Mat3<T> H = Mat3<T>::Zero();
  int flats = 0;
  Vec3<T> e[2];
};

// Kinds of pieces. Corner, side and face of a body with corners are given by the numbers of these corners.
enum class PieceKind : unsigned char { Round, Mantle, Cap, Corner, Side, Face };
struct PieceChoice {
  PieceKind kind = PieceKind::Corner;
  int corner[3] = {-1, -1, -1};
};

template <class T, class Hulls> FS_HD Vec3<T> corner_of(const ConvexBody<T, Hulls>& b, int corner) {
  const auto end = [&](int k) { return ((corner >> k) & 1) != 0 ? b.size(k) : -b.size(k); };
  Vec3<T> r = zero3<T>();
  if (b.type == GeomType::Capsule) r.z() = corner == 0 ? -b.size.y() : b.size.y();
  if (b.type == GeomType::Box) r = {end(0), end(1), end(2)};
  if (b.type == GeomType::Mesh) r = cast<T>(b.hull->corner[corner].r);
  if (b.type == GeomType::HeightField) r = b.corner[corner];
  return b.X.r + b.X.R * r;
}

template <class T> FS_HD Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  Mat3<T> m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m(i, j) = a(i) * b(j);
  return m;
}

// Computes the piece at normal n.
//
// in   n  unit, out of the body
template <class T, class Hulls>
FS_HD SurfacePiece<T> surface_piece(const ConvexBody<T, Hulls>& b, const PieceChoice& c, const Vec3<T>& n) {
  SurfacePiece<T> s;
  const T one(1.0), zero(0.0);
  if (b.type == GeomType::Ellipsoid) {
    const Vec3<T> m = transpose_times(b.X.R, n);
    const Vec3<T> square{b.size.x() * b.size.x(), b.size.y() * b.size.y(), b.size.z() * b.size.z()};
    const Vec3<T> g{square.x() * m.x(), square.y() * m.y(), square.z() * m.z()};
    const T inverse = rcp(sqrt(dot(g, m)));
    const Vec3<T> p = g * inverse;
    Mat3<T> H = outer(p, Vec3<T>(p * -inverse));
    for (int k = 0; k < 3; k++) H(k, k) = H(k, k) + square(k) * inverse;
    s.p = b.X.r + b.X.R * p;
    s.H = b.X.R * H * transposed(b.X.R);
    return s;
  }
  if (b.type == GeomType::Cylinder) {
    const Vec3<T> z = axis_of(b.X, 2);
    const T along = dot(z, n), side = along < zero ? -one : one;
    if (c.kind == PieceKind::Cap) {
      s.p = b.X.r + z * (side * b.size.y());
      s.flats = 2, s.e[0] = axis_of(b.X, 0), s.e[1] = axis_of(b.X, 1);
      return s;
    }
    const Vec3<T> across = n - z * along;
    const T inverse = rcp(sqrt(max(dot(across, across), T(1e-30))));
    const Vec3<T> radial = across * inverse, t = cross(z, radial);
    s.p = b.X.r + radial * b.size.x(), s.H = outer(t, Vec3<T>(t * (b.size.x() * inverse)));
    if (c.kind == PieceKind::Mantle) s.flats = 1, s.e[0] = z;
    else s.p = s.p + z * (side * b.size.y());
    return s;
  }
  s.p = b.type == GeomType::Sphere ? b.X.r : corner_of(b, c.corner[0]);
  if (c.kind == PieceKind::Side || c.kind == PieceKind::Face) s.flats = 1, s.e[0] = corner_of(b, c.corner[1]) - s.p;
  if (c.kind == PieceKind::Face) s.flats = 2, s.e[1] = corner_of(b, c.corner[2]) - s.p;
  return s;
}

// Returns true if a point of the plane of a piece lies on the piece.
// in   t  coordinates along the piece's flat directions
template <class T, class Hulls>
FS_HD bool is_on(const ConvexBody<T, Hulls>& b, const PieceChoice& c, const T (&t)[2], const Vec3<T>& at,
                 const T& small) {
  const Vec3<T> r = transpose_times(b.X.R, Vec3<T>(at - b.X.r));
  switch (c.kind) {
    case PieceKind::Round:
    case PieceKind::Corner: return true;
    case PieceKind::Mantle: return abs(t[0]) <= b.size.y() + small;
    case PieceKind::Cap: return t[0] * t[0] + t[1] * t[1] <= (b.size.x() + small) * (b.size.x() + small);
    case PieceKind::Side: return T(-1e-9) <= t[0] && t[0] <= T(1.0 + 1e-9);
    case PieceKind::Face: break;
  }
  if (b.type == GeomType::Box) {
    bool in = true;
    for (int k = 0; k < 3; k++) in = in && abs(r(k)) <= b.size(k) + small;
    return in;
  }
  if (b.type == GeomType::Mesh) {
    for (const auto& p : b.hull->polygon) {
      const Vec3<T> n = cast<T>(p.normal);
      // a mesh's normals are less exact than its corners
      if (dot(n, Vec3<T>(r - cast<T>(b.hull->corner[p.corner[0]].r))) > T(1e-6) * b.reach) return false;
    }
    return true;
  }
  return T(-1e-9) <= min(t[0], t[1]) && t[0] + t[1] <= T(1.0 + 1e-9);
}

inline constexpr int most_pieces = 7;

// Lists the pieces that a body may have at n: those of its touching corners, or its round parts.
template <class T, class Hulls>
FS_HD int pieces_at(const ConvexBody<T, Hulls>& b, const TouchingCorners& t, const Vec3<T>& n,
                    PieceChoice (&out)[most_pieces]) {
  if (b.type == GeomType::Ellipsoid) return out[0].kind = PieceKind::Round, 1;
  if (b.type == GeomType::Cylinder) {
    const T along = abs(dot(axis_of(b.X, 2), n));
    int count = 0;
    if (T(0.95) < along) out[count++].kind = PieceKind::Cap;
    if (along < T(0.3)) out[count++].kind = PieceKind::Mantle;
    if (along < T(1.0 - 1e-15)) out[count++].kind = PieceKind::Round;
    return count;
  }
  int count = 0;
  if (t.n == 3) out[count++] = {PieceKind::Face, {t.corner[0], t.corner[1], t.corner[2]}};
  for (int k = 0; k < t.n; k++)
    for (int l = 0; l < k; l++) out[count++] = {PieceKind::Side, {t.corner[l], t.corner[k], -1}};
  for (int k = 0; k < t.n; k++) out[count++] = {PieceKind::Corner, {t.corner[k], -1, -1}};
  return count;
}

template <class T> struct Polished {
  T d;
  Vec3<T> n, a, b;
};

// Returns true if flat parts lie along each other, up to an angle of 1e-6, so that many points are equally near.
// in   e  directions of A's flat parts, then those of B's
template <class T> FS_HD bool lie_along(const Vec3<T>* e, int of_a, int of_b) {
  const auto square_of = [](const Vec3<T>& x) { return dot(x, x); };
  const T limit(1e-12);
  if (of_a + of_b < 2) return false;
  if (of_a == 1 && of_b == 1) return square_of(cross(e[0], e[1])) <= limit * square_of(e[0]) * square_of(e[1]);
  if (of_a == 0 || of_b == 0) return false;
  const int face = of_a == 2 ? 0 : of_a, other = of_a == 2 ? of_a : 0, others = of_a == 2 ? of_b : of_a;
  const Vec3<T> m = cross(e[face], e[face + 1]);
  bool along = true;
  for (int k = other; k < other + others; k++) {
    const T x = dot(m, e[k]);
    along = along && x * x <= limit * square_of(m) * square_of(e[k]);
  }
  return along;
}

// Greatest rotation of n in one step, and greatest number of steps.
inline constexpr double most_turn = 0.2;
inline constexpr int most_turns = 40;

// Refines an answer on one pair of pieces. If flat parts lie along each other, the points stay as they are, except for
// the distance.
//
// in   n, d, a, b   approximate answer: w = d n, n from A to B
// out  polished
// returns true if these pieces have an answer
template <class T, class Hulls>
FS_HD bool polish_on(const ConvexBody<T, Hulls>& A, const PieceChoice& on_a, const ConvexBody<T, Hulls>& B,
                     const PieceChoice& on_b, const T& small, Polished<T>& polished) {
  const T zero(0.0), one(1.0);
  Vec3<T> n = polished.n;
  SurfacePiece<T> a, b;
  Vec3<T> e[4], w;
  int flats = 0;
  T d = zero;
  const auto evaluate = [&] {
    a = surface_piece(A, on_a, n), b = surface_piece(B, on_b, Vec3<T>(-n));
    w = a.p - b.p, d = dot(w, n);
    flats = 0;
    for (int k = 0; k < a.flats; k++) e[flats++] = a.e[k];
    for (int k = 0; k < b.flats; k++) e[flats++] = b.e[k];
  };
  evaluate();
  const bool along_each_other = lie_along(e, a.flats, b.flats), lines = a.flats == 1 && b.flats == 1;
  if (flats > 2 && !along_each_other) return false;
  if (flats >= 2 && !(along_each_other && lines)) {
    const int first = a.flats == 1 && b.flats == 2 ? 1 : 0;
    const Vec3<T> m = cross(e[first], e[first + 1]);
    const Vec3<T> along = m * rcp(sqrt(dot(m, m)));
    n = dot(along, n) < zero ? Vec3<T>(-along) : along;
    evaluate();
  } else {
    T left(1e300);
    for (int i = 0; i < most_turns; i++) {
      Vec3<T> tau[2];
      if (flats >= 1) {
        const Vec3<T> x = e[0] * rcp(sqrt(dot(e[0], e[0])));
        n = n - x * dot(n, x);
        n = n * rcp(sqrt(dot(n, n)));
        tau[0] = cross(n, x), tau[1] = zero3<T>();
        evaluate();
      } else {
        Vec3<T> h = zero3<T>();
        h(abs(n.x()) < T(0.6) ? 0 : 1) = one;
        tau[0] = h - n * dot(n, h);
        tau[0] = tau[0] * rcp(sqrt(dot(tau[0], tau[0])));
        tau[1] = cross(n, tau[0]);
      }
      const T x = -dot(tau[0], w), y = -dot(tau[1], w), before = left;
      left = max(abs(x), abs(y));
      if (left <= T(1e-3) * small || (left <= small && before <= left)) break;
      const Mat3<T> H = a.H + b.H;
      const Vec3<T> h0 = H * tau[0], h1 = H * tau[1];
      const T p = dot(tau[0], h0) - d, q = dot(tau[0], h1), r = flats >= 1 ? zero : dot(tau[1], h1) - d;
      // skip directions in which the surface is round about zero itself: all n are equally good there
      const T mean = T(0.5) * (p + r), half = T(0.5) * (p - r), root = sqrt(half * half + q * q);
      const T large = mean < zero ? mean - root : mean + root, other = mean < zero ? mean + root : mean - root;
      // eigenvector of the eigenvalue with the greater magnitude
      Vec3<T> along{half < zero ? q : half + root, half < zero ? root - half : q, zero};
      if (mean < zero) along = {-along.y(), along.x(), zero};
      const T size = dot(along, along);
      if (abs(large) <= T(1e-14)) break;
      if (T(0.0) < size) along = along * rcp(sqrt(size));
      else along = {one, zero, zero};
      // descend also along directions of the opposite curvature
      const T f = (along.x() * x + along.y() * y) / abs(large), g = along.x() * y - along.y() * x;
      const T h = abs(other) <= T(1e-5) * abs(large) ? zero : g / abs(other);
      const T length = sqrt(f * f + h * h), part = most_turn < length ? T(most_turn) / length : one;
      const T u = part * (along.x() * f - along.y() * h), v = part * (along.y() * f + along.x() * h);
      n = n + tau[0] * u + tau[1] * v;
      n = n * rcp(sqrt(dot(n, n)));
      evaluate();
    }
    if (!(left <= small)) return false;
  }
  if (along_each_other) {
    const Vec3<T> at = polished.a + n * dot(n, Vec3<T>(a.p - polished.a));
    polished = {d, n, at, at - n * d};
    return true;
  }
  // t from w + sum t e = d n; the e of B have the opposite sign
  const Vec3<T> rest = n * d - w;
  T t[2] = {zero, zero};
  if (flats == 1) t[0] = dot(e[0], rest) / dot(e[0], e[0]);
  if (flats == 2) {
    const T x = dot(e[0], e[0]), y = dot(e[0], e[1]), z = dot(e[1], e[1]), inverse = rcp(x * z - y * y);
    const T f = dot(e[0], rest), g = dot(e[1], rest);
    t[0] = (z * f - y * g) * inverse, t[1] = (x * g - y * f) * inverse;
  }
  T on[2] = {zero, zero}, under[2] = {zero, zero};
  for (int k = 0; k < a.flats; k++) on[k] = t[k], a.p = a.p + a.e[k] * t[k];
  for (int k = 0; k < b.flats; k++) under[k] = -t[a.flats + k], b.p = b.p + b.e[k] * under[k];
  polished = {d, n, a.p, b.p};
  return is_on(A, on_a, on, a.p, small) && is_on(B, on_b, under, b.p, small);
}

// Tries the possible pieces. The answer must lie within the known bounds of d, low and high.
template <class T, class Hulls>
FS_HD bool polish(const ConvexBody<T, Hulls>& A, const TouchingCorners& corners_a, const ConvexBody<T, Hulls>& B,
                  const TouchingCorners& corners_b, const T& low, const T& high, const T& small, Polished<T>& answer) {
  PieceChoice on_a[most_pieces], on_b[most_pieces];
  const int pieces_a = pieces_at(A, corners_a, answer.n, on_a),
            pieces_b = pieces_at(B, corners_b, Vec3<T>(-answer.n), on_b);
  for (int i = 0; i < pieces_a; i++)
    for (int j = 0; j < pieces_b; j++) {
      Polished<T> p = answer;
      if (!polish_on(A, on_a[i], B, on_b[j], small, p)) continue;
      const Difference<T> w = farthest_difference<T>(A, B, p.n);
      // accept if the answer is on the surface and no other point is farther out
      if (dot(p.n, w.w) <= p.d + small && low - small <= p.d && p.d <= high + small) return answer = p, true;
    }
  return false;
}

}  // namespace featherstorm
