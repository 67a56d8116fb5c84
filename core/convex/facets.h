// Flat features at which convex bodies touch: faces, and edges that may lie on a face of the other body.
//
//   box, mesh   the faces and edges at the corners between which the nearest points lie
//   cylinder    a cap, as a polygon of 16 corners, if it faces along n; the line of its side farthest along n
//   capsule     the line of its side farthest along n
//
// Two faces lie on each other if their normals are opposed within 5 degrees. An edge lies on a face if it is
// perpendicular to the face's normal within 5 degrees. From several pairs of faces, the most opposed pair is used; from
// several edges, the first one [MuJoCo 4.0: single-shot multicontact].
#pragma once
#include "core/convex/convex_contact.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Cosine and sine of the angles up to which features count as lying on each other.
inline constexpr double opposed = 0.996, square_to = 0.0888;
inline constexpr int cap_corners = 16;
inline constexpr double cap_along = 1e-6;

template <class T> struct Facet {
  Vec3<T> n;  // outward, unit
  int which;
};
// An edge at the contact of a body.
template <class T> struct BodyEdge { Vec3<T> from, to; };

// Capacity for features, more than any corner has; further ones are dropped.
inline constexpr int most_facets = 64;
template <class T> struct Facets {
  int n = 0;
  Scratch<Facet<T>> facet{most_facets};
  FS_HD void add(const Vec3<T>& normal, int which) {
    if (n < most_facets) facet[n++] = {normal, which};
  }
};
template <class T> struct Edges {
  int n = 0;
  Scratch<BodyEdge<T>> edge{most_facets};
  FS_HD void add(const Vec3<T>& from, const Vec3<T>& to) {
    if (n < most_facets) edge[n++] = {from, to};
  }
};

// Face 2k of a box faces along axis k of the box, face 2k + 1 in the opposite direction.
template <class T, class Hulls> FS_HD void box_facets(const ConvexBody<T, Hulls>& b, const TouchingCorners& t,
                                                      const Vec3<T>& n, Facets<T>& out) {
  const auto add = [&](int face) { out.add(axis_of(b.X, face / 2) * T(face % 2 == 0 ? 1.0 : -1.0), face); };
  int all = 7, none = 7;  // bit masks of the axes along which all corners are at the positive, at the negative end
  for (int i = 0; i < t.n; i++) all &= t.corner[i], none &= ~t.corner[i];
  int shared = 0;
  for (int k = 0; k < 3; k++) shared += ((all | none) >> k) & 1;
  if (shared == 4 - t.n) {
    for (int k = 0; k < 3; k++)
      if (((all | none) >> k) & 1) add(2 * k + ((none >> k) & 1));
    return;
  }
  for (int face = 0; face < 6 && out.n == 0; face++)
    if (T(opposed) < dot(axis_of(b.X, face / 2), n) * T(face % 2 == 0 ? 1.0 : -1.0)) add(face);
}

template <class T, class Hulls> FS_HD void mesh_facets(const ConvexBody<T, Hulls>& b, const TouchingCorners& t,
                                                       Facets<T>& out) {
  const auto& h = *b.hull;
  for (const auto& f : h.corner[t.corner[0]].face) {
    bool shared = true;
    for (int i = 1; i < t.n; i++) {
      bool has = false;
      for (const auto& g : h.corner[t.corner[i]].face) has = has || g.polygon == f.polygon;
      shared = shared && has;
    }
    if (shared) out.add(b.X.R * cast<T>(f.normal), f.polygon);
    if (t.n == 3 && out.n == 1) return;
  }
}

// Adds the faces that may lie on a face of the other body.
// in   n  unit, out of the body
template <class T, class Hulls>
FS_HD void facets_of(const ConvexBody<T, Hulls>& b, const TouchingCorners& t, const Vec3<T>& n, Facets<T>& out) {
  if (b.type == GeomType::Box) box_facets(b, t, n, out);
  if (b.type == GeomType::Mesh) mesh_facets(b, t, out);
  if (b.type == GeomType::Cylinder) {
    const T along = dot(axis_of(b.X, 2), n);
    if (T(cap_along) < abs(along)) out.add(axis_of(b.X, 2) * T(along < T(0.0) ? -1.0 : 1.0), along < T(0.0) ? 1 : 0);
  }
}

// Adds the edges that may lie on a face of the other body. Capsules are enlarged by `more` on all sides.
template <class T, class Hulls>
FS_HD void edges_of(const ConvexBody<T, Hulls>& b, const TouchingCorners& t, const Vec3<T>& n, const T& more,
                    Edges<T>& out) {
  const Vec3<T> z = axis_of(b.X, 2) * b.size.y(), across = n - axis_of(b.X, 2) * dot(axis_of(b.X, 2), n);
  if (b.type == GeomType::Capsule) {
    const Vec3<T> middle = b.X.r + across * (b.radius + more);
    out.add(middle - z, middle + z);
  }
  if (b.type == GeomType::Cylinder) {
    const Vec3<T> middle = b.X.r + direction_of(across, zero3<T>()).e * b.size.x();
    out.add(middle - z, middle + z);
  }
  if (b.type == GeomType::Box && t.n < 3) {
    const auto at = [&](int corner) {
      Vec3<T> r;
      for (int k = 0; k < 3; k++) r(k) = ((corner >> k) & 1) != 0 ? b.size(k) : -b.size(k);
      return b.X.r + b.X.R * r;
    };
    if (t.n == 2) out.add(at(t.corner[0]), at(t.corner[1]));
    for (int k = 0; k < 3 && t.n == 1; k++) out.add(at(t.corner[0]), at(t.corner[0] ^ (1 << k)));
  }
  if (b.type == GeomType::Mesh && t.n < 3) {
    const auto& h = *b.hull;
    const auto at = [&](int corner) { return b.X.r + b.X.R * cast<T>(h.corner[corner].r); };
    const int first = t.corner[0];
    if (t.n == 2) out.add(at(first), at(t.corner[1]));
    for (std::size_t k = 0; k < h.corner[first].face.size() && t.n == 1; k++) {
      const auto& polygon = h.polygon[h.corner[first].face[k].polygon].corner;
      std::size_t i = 0;
      while (polygon[i] != first) i++;
      out.add(at(first), at(polygon[(i + polygon.size() - 1) % polygon.size()]));
    }
  }
}

// Returns true for a cylinder whose axis is along n, so that its cap touches.
template <class T, class Hulls> FS_HD bool touches_with_cap(const ConvexBody<T, Hulls>& b, const Vec3<T>& n) {
  const Vec3<T> across = cross(axis_of(b.X, 2), n);
  return b.type == GeomType::Cylinder && dot(across, across) < T(cap_along * cap_along);
}

template <class T, class Hulls> FS_HD int corners_of_facet(const ConvexBody<T, Hulls>& b, int which) {
  return b.type == GeomType::Mesh       ? static_cast<int>(b.hull->polygon[which].corner.size())
         : b.type == GeomType::Cylinder ? cap_corners
                                        : 4;
}
// Computes the corners of a facet, clockwise as seen from outside.
template <class T, class Hulls> FS_HD void facet_corners(const ConvexBody<T, Hulls>& b, int which, Vec3<T>* out) {
  const auto place = [&](const Vec3<T>& r) { return b.X.r + b.X.R * r; };
  if (b.type == GeomType::Mesh) {
    const auto& corner = b.hull->polygon[which].corner;
    const int n = static_cast<int>(corner.size());
    for (int k = 0; k < n; k++) out[k] = place(cast<T>(b.hull->corner[corner[n - 1 - k]].r));
    return;
  }
  if (b.type == GeomType::Cylinder) {
    for (int k = 0; k < cap_corners; k++) {
      T s, c;
      sincos(T(k * (which == 0 ? -2.0 : 2.0) * 3.14159265358979323846 / cap_corners), s, c);
      out[k] = place({c * b.size.x(), s * b.size.x(), which == 0 ? b.size.y() : -b.size.y()});
    }
    return;
  }
  // corners of each face of a box; the first one is MuJoCo's first
  constexpr int first[6][4] = {{7, 3, 1, 5}, {2, 6, 4, 0}, {2, 3, 7, 6}, {4, 5, 1, 0}, {6, 7, 5, 4}, {3, 2, 0, 1}};
  for (int k = 0; k < 4; k++) {
    Vec3<T> r;
    for (int i = 0; i < 3; i++) r(i) = ((first[which][k] >> i) & 1) != 0 ? b.size(i) : -b.size(i);
    out[k] = place(r);
  }
}

}  // namespace featherstorm
