// Convex bodies, represented by their farthest points along a direction n [support functions].
//
//   box        each coordinate at the end that n points to
//   ellipsoid  S^2 n / |S n|,  S = diag(s)
//   cylinder   on the rim, at the end that n points to: radius along the part of n perpendicular to the axis
//   mesh       a corner of its hull, found by walking to neighbours as long as they are farther
//   prism      one of its corners
//
// A sphere is a point and a capsule a segment, both with a radius around them. The radius is added at the end.
//
// A scalar T in this folder holds one instance, because the branches and the length of the loops depend on the numbers.
#pragma once
#include "core/convex/contact_point.h"
#include "core/world/contacts.h"

namespace featherstorm {

// Hulls: type that stores a hull, Hull<P> on the host.
template <class T, class Hulls> struct ConvexBody {
  GeomType type;  // HeightField: one prism of the field
  Placement<T> X;
  Vec3<T> size;  // [geom_size]
  T radius;      // around the shape that the farthest points describe
  T reach;       // upper bound of the distance of a point from X.r
  const Hulls* hull = nullptr;
  const Vec3<T>* corner = nullptr;  // (6) corners of a prism, in the axes of X: three below, three above

  FS_HD bool is_polytope() const { return type != GeomType::Ellipsoid && type != GeomType::Cylinder; }
};

template <class Contacts> using HullOf = std::remove_cvref_t<decltype(std::declval<const Contacts&>().hull[0])>;
template <class T, class S, class Contacts>
FS_HD ConvexBody<T, HullOf<Contacts>> convex_body(const Contacts& c, const Geom<S>& g, const Placement<T>& X) {
  const Vec3<T> s = cast<T>(g.size), none = zero3<T>();
  const T zero(0.0);
  switch (g.type) {
    case GeomType::Sphere: return {g.type, X, none, s.x(), s.x()};
    case GeomType::Capsule: return {g.type, X, s, s.x(), s.x() + s.y()};
    case GeomType::Ellipsoid: return {g.type, X, s, zero, max(s.x(), max(s.y(), s.z()))};
    case GeomType::Cylinder: return {g.type, X, s, zero, sqrt(s.x() * s.x() + s.y() * s.y())};
    case GeomType::Box: return {g.type, X, s, zero, sqrt(dot(s, s))};
    case GeomType::Mesh: return {g.type, X, none, zero, T(c.hull[g.hull].reach), &c.hull[g.hull]};
    case GeomType::Plane:
    case GeomType::HeightField:
    case GeomType::SignedDistance: break;
  }
  assert(!"not a convex body");
  return {g.type, X, none, zero, zero};
}

// Farthest point and the number of its corner, -1 if it is not a corner.
template <class T> struct Farthest {
  Vec3<T> r;
  int corner = -1;
};

template <class T> FS_HD int farthest_corner(const auto& hull, const Vec3<T>& n, int from) {
  T best = dot(hull.corner[from].r, n);
  for (int before = -1; before != from;) {
    before = from;
    for (int k = hull.first_neighbour[before]; k < hull.first_neighbour[before + 1]; k++) {
      const T along = dot(hull.corner[hull.neighbour[k]].r, n);
      if (best < along) best = along, from = hull.neighbour[k];
    }
  }
  return from;
}

// Returns the farthest point in the body's axes.
// in   n     unit, in the body's axes
// in   from  a corner of a hull to begin at
template <class T, class Hulls> FS_HD Farthest<T> farthest_in(const ConvexBody<T, Hulls>& b, const Vec3<T>& n,
                                                              int from) {
  const Vec3<T>& s = b.size;
  const T zero(0.0);
  const auto end = [&](int k, const T& length) { return n(k) < zero ? -length : length; };
  switch (b.type) {
    case GeomType::Capsule: return {{zero, zero, end(2, s.y())}, n.z() < zero ? 0 : 1};
    case GeomType::Ellipsoid: {
      const Vec3<T> g{s.x() * n.x(), s.y() * n.y(), s.z() * n.z()};
      const T inverse = rcp(sqrt(max(dot(g, g), T(1e-30))));
      return {{s.x() * g.x() * inverse, s.y() * g.y() * inverse, s.z() * g.z() * inverse}};
    }
    case GeomType::Cylinder: {
      const T across = n.x() * n.x() + n.y() * n.y(), scale = across < T(1e-30) ? zero : s.x() * rcp(sqrt(across));
      return {{scale * n.x(), scale * n.y(), end(2, s.y())}};
    }
    case GeomType::Box:
      return {{end(0, s.x()), end(1, s.y()), end(2, s.z())},
              (n.x() < zero ? 0 : 1) + (n.y() < zero ? 0 : 2) + (n.z() < zero ? 0 : 4)};
    case GeomType::Mesh: {
      const int corner = farthest_corner(*b.hull, n, from < 0 ? 0 : from);
      return {cast<T>(b.hull->corner[corner].r), corner};
    }
    case GeomType::HeightField: {
      int best = 0;
      for (int k = 1; k < 6; k++)
        if (dot(b.corner[best], n) < dot(b.corner[k], n)) best = k;
      return {b.corner[best], best};
    }
    case GeomType::Sphere:
    case GeomType::Plane:
    case GeomType::SignedDistance: break;
  }
  return {zero3<T>(), 0};
}
template <class T, class Hulls> FS_HD Farthest<T> farthest(const ConvexBody<T, Hulls>& b, const Vec3<T>& n, int from) {
  const Farthest<T> f = farthest_in(b, transpose_times(b.X.R, n), from);
  return {b.X.r + b.X.R * f.r, f.corner};
}

// A difference w = a - b of points of two bodies. The distance of the bodies is the distance of the set of all w from
// zero.
template <class T> struct Difference {
  Vec3<T> w, a, b;
  int corner_a = -1, corner_b = -1;
};

// Returns the difference that is farthest along n.
template <class T>
FS_HD Difference<T> farthest_difference(const auto& A, const auto& B, const Vec3<T>& n,
                                        const Difference<T>* near = nullptr) {
  const Farthest<T> a = farthest(A, n, near ? near->corner_a : -1), b = farthest(B, -n, near ? near->corner_b : -1);
  return {a.r - b.r, a.r, b.r, a.corner, b.corner};
}

// Corners of a body at the contact: one for a corner, two for an edge, three for a face, none if the body has no
// corners.
struct TouchingCorners { int n = 0, corner[3] = {}; };
// in   d (n)  differences whose simplex contains the answer
template <class T> FS_HD TouchingCorners touching_corners(const Difference<T>* d, int n, int Difference<T>::* of) {
  TouchingCorners t;
  for (int i = 0; i < n; i++) {
    const int x = d[i].*of;
    bool is_new = x >= 0;
    for (int k = 0; k < t.n; k++) is_new = is_new && t.corner[k] != x;
    if (is_new) t.corner[t.n++] = x;
  }
  return t;
}

}  // namespace featherstorm
