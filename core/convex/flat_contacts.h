// Contacts of two convex bodies that lie on each other: the part of a face or an edge of one over a face of the other.
//
// Face 1 contains p and has normal n. Face 2 is clipped at the sides of face 1; v are the corners of the clipped face.
// Each corner gives a contact along the normal u of face 2, between the foot of v on face 1 and the point of face 2
// above it:
//
//   foot = v - d n,  d = (v - p) . n,   distance = d (n . u),   u turned to the side of n
//
// If there are more than four corners, four that span a large area are kept. An edge is clipped in the same way. Its
// contacts are along the normal of the face.
#pragma once
#include "core/convex/facets.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

inline constexpr int most_flat_contacts = 4;

// A polygon in preallocated memory.
template <class T> struct Corners {
  Vec3<T>* r;
  int n = 0, most;
  FS_HD void add(const Vec3<T>& x) {
    if (n < most) r[n++] = x;
  }
};

// Clips `polygon` at the sides of a face. `other` is memory for a polygon of the same size.
template <class T>
FS_HD void cut_off(const Vec3<T>* face, int n_face, const Vec3<T>& n, Corners<T>& polygon, Corners<T>& other) {
  for (int e = 0; e < n_face; e++) {
    const Vec3<T>& at = face[e];
    const Vec3<T> outward = direction_of(cross(face[(e + 1) % n_face] - at, n), zero3<T>()).e;
    const T limit = dot(outward, at);
    const auto inside = [&](const Vec3<T>& r) { return dot(r - at, outward) > T(-1e-15); };
    other.n = 0;
    for (int i = 0; i < polygon.n; i++) {
      const Vec3<T>&p = polygon.r[i], &q = polygon.r[(i + 1) % polygon.n];
      const bool p_in = inside(p), q_in = inside(q);
      const Vec3<T> step = q - p;
      const T along = dot(outward, step);
      if (p_in != q_in && !(along == T(0.0))) {
        const T t = (limit - dot(outward, p)) / along;
        if (T(0.0) <= t && t <= T(1.0)) other.add(p + step * t);
      }
      if (q_in) other.add(q);
    }
    std::swap(polygon, other);
  }
}

// Computes the contacts of a polygon over a face.
//
// in   far  greater distances are not contacts
// in   along  unit normal of the contacts, from A to B;  first: true if the face belongs to A
// out  out (4)
// returns the number of contacts
template <class T>
FS_HD int contacts_over(const Vec3<T>* face, int n_face, const Vec3<T>& n, Corners<T>& polygon, Corners<T>& other,
                        const Vec3<T>& along, bool first, const T& more, const T& far, ContactPoint<T>* out) {
  const bool is_edge = polygon.n == 2;
  cut_off(face, n_face, n, polygon, other);
  int m = 0;
  for (int i = 0; i < polygon.n; i++)
    if (dot(polygon.r[i] - face[0], n) + more <= far) polygon.r[m++] = polygon.r[i];
  polygon.n = m;
  int which[4] = {0, 1, 2, 3}, count = m < 4 ? m : 4;
  if (is_edge && m > 2) {
    T most(-1.0);
    for (int i = 0; i < m; i++)
      for (int j = i + 1; j < m; j++) {
        const Vec3<T> d = polygon.r[j] - polygon.r[i];
        if (most < dot(d, d)) most = dot(d, d), which[0] = i, which[1] = j;
      }
    count = 2;
  } else if (m > 4) {
    const WideCorners<T> w = wide_corners<T>(m, m, [&](int i) -> const Vec3<T>& { return polygon.r[i]; });
    for (int k = 0; k < 4; k++) which[k] = w.i[k];
  }
  const T cosine = abs(dot(along, n));
  for (int k = 0; k < count; k++) {
    const Vec3<T>& v = polygon.r[which[k]];
    const T d = dot(v - face[0], n), distance = d * cosine + more;
    // the foot is on A if the face belongs to A
    out[k] = {distance, v - n * d + along * (first ? T(0.5) * distance : T(-0.5) * distance), along};
  }
  return count;
}

// Computes all contacts of two bodies.
//
// in   far      greater distances are not contacts
// in   several  true if there may be more than one contact
// out  out (4)
// returns the number of contacts
template <class T, class Hulls>
FS_HD int convex_contacts(const ConvexBody<T, Hulls>& A, const ConvexBody<T, Hulls>& B, const T& far, bool several,
                          ContactPoint<T>* out) {
  const ConvexContact<T> c = convex_contact(A, B, far);
  if (!(c.distance < far)) return 0;
  out[0] = {c.distance, (c.a + c.b) * T(0.5), c.n};
  const auto is_flat = [](GeomType t) {
    return t == GeomType::Capsule || t == GeomType::Cylinder || t == GeomType::Box || t == GeomType::Mesh;
  };
  if (!several || !is_flat(A.type) || !is_flat(B.type)) return 1;

  const TouchingCorners corners_a = touching_corners(c.corner, c.corners, &Difference<T>::corner_a),
                        corners_b = touching_corners(c.corner, c.corners, &Difference<T>::corner_b);
  Facets<T> facets_a, facets_b;
  facets_of(A, corners_a, c.n, facets_a), facets_of(B, corners_b, Vec3<T>(-c.n), facets_b);
  int face_a = -1, face_b = -1;
  T most_opposed(opposed);
  for (int i = 0; i < facets_a.n; i++)
    for (int j = 0; j < facets_b.n; j++) {
      const T cosine = -dot(facets_a.facet[i].n, facets_b.facet[j].n);
      if (most_opposed < cosine) most_opposed = cosine, face_a = i, face_b = j;
    }
  BodyEdge<T> edge;
  // capsules are enlarged by half the margin
  const T more = T(0.5) * max(far, T(0.0));
  const auto edge_on = [&](const ConvexBody<T, Hulls>& body, const TouchingCorners& t, const Vec3<T>& n,
                           const Facets<T>& facets) {
    Edges<T> edges;
    edges_of(body, t, n, more, edges);
    for (int j = 0; j < facets.n; j++)
      for (int i = 0; i < edges.n; i++) {
        edge = edges.edge[i];
        if (abs(dot(direction_of(edge.to - edge.from, zero3<T>()).e, facets.facet[j].n)) < T(square_to)) return j;
      }
    return -1;
  };
  bool edge_a = false, edge_b = false;
  if (face_a < 0) {
    if (corners_a.n < 3) face_b = edge_on(A, corners_a, c.n, facets_b), edge_a = face_b >= 0;
    if (!edge_a && corners_b.n < 3) face_a = edge_on(B, corners_b, Vec3<T>(-c.n), facets_a), edge_b = face_a >= 0;
    if ((!edge_a && !edge_b) || touches_with_cap(edge_a ? A : B, c.n)) return 1;
  }

  // the clipping face, and the polygon that it clips
  const ConvexBody<T, Hulls>&own = edge_a ? B : A, &other = edge_a ? A : B;
  const Facet<T>& facet = edge_a ? facets_b.facet[face_b] : facets_a.facet[face_a];
  const int n_face = corners_of_facet(own, facet.which);
  const int n_cut = edge_a || edge_b ? 2 : corners_of_facet(other, facets_b.facet[face_b].which);
  const int most = 2 * (n_face + n_cut);
  auto face = scratch<Vec3<T>>(n_face), cut = scratch<Vec3<T>>(most), memory = scratch<Vec3<T>>(most);
  facet_corners(own, facet.which, face.data());
  Corners<T> polygon{cut.data(), n_cut, most}, rest{memory.data(), 0, most};
  Vec3<T> along = facet.n;
  if (edge_a || edge_b) {
    cut[0] = edge.from, cut[1] = edge.to;
    if (edge_a) along = -along;
  } else {
    facet_corners(other, facets_b.facet[face_b].which, cut.data());
    along = -facets_b.facet[face_b].n;
  }
  const bool is_capsule = (edge_a ? A : B).type == GeomType::Capsule && (edge_a || edge_b);
  ContactPoint<T> flat[4];
  const int count =
      contacts_over(face.data(), n_face, facet.n, polygon, rest, along, !edge_a, is_capsule ? more : T(0.0), far, flat);
  for (int k = 0; k < count; k++) out[k] = flat[k];
  return count < 1 ? 1 : count;
}

}  // namespace featherstorm
