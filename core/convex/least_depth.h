// Penetration depth: the least distance by which two overlapping convex bodies must move to separate (expanding
// polytope algorithm).
//
// The differences w = a - b of their points form a convex body that contains zero. A polytope within it grows. Its face
// nearest to zero, at distance d along its normal n, is no farther than the surface there: h = n . w, with w the
// farthest difference along n. If h is not greater than d, the face is part of the surface. Otherwise w becomes a
// corner: the faces below w are removed, and new faces join w to the edges around them.
//
// Distances of faces are signed. Zero may therefore lie outside the first tetrahedron, or outside the differences; the
// bodies are then apart by that distance.
#pragma once
#include "core/convex/nearest_points.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

template <class T> struct Depth {
  T depth, most;            // distance to move, and its upper bound; negative if the bodies are apart
  Vec3<T> n;                // direction in which B moves
  Difference<T> at;         // points of both bodies that meet after the move
  Difference<T> corner[3];  // corners of the face
};

template <class T> class Polytope {
 public:
  static constexpr int most_corners = 160, most_faces = 12 * most_corners;
  struct Face {
    int corner[3], beside[3];  // beside[k]: neighbouring face across the edge from corner k to the next
    bool is_there;
    Vec3<T> n;  // outward, unit
    T d;        // n . corner
  };

  // in   small  lengths below it are treated as zero
  FS_HD explicit Polytope(const T& small) : small_(small), corner_(most_corners), face_(most_faces) {}

  // Starts from four corners that do not lie in a plane.
  FS_HD void begin(const Difference<T> (&c)[4]) {
    for (const Difference<T>& x : c) corner_[corners_++] = x;
    const Vec3<T> n = cross(c[1].w - c[0].w, c[2].w - c[0].w);
    const bool above = T(0.0) < dot(n, c[3].w - c[0].w);
    const int b = above ? 2 : 1, a = above ? 1 : 2;
    // normals point outward; each face is linked to the faces that share its edges
    add(0, b, a, {3, 2, 1}), add(0, a, 3, {0, 2, 3}), add(a, b, 3, {0, 3, 1}), add(b, 0, 3, {0, 1, 2});
  }

  // Returns the face nearest to zero.
  FS_HD int nearest() const {
    int best = -1;
    for (int f = 0; f < faces_; f++)
      if (face_[f].is_there && (best < 0 || face_[f].d < face_[best].d)) best = f;
    return best;
  }
  // Returns, from the faces in the plane of `face`, the face that contains the plane's point nearest to zero.
  FS_HD int under_zero(int face) const {
    int best = face;
    T least = inside(face);
    for (int f = 0; f < faces_; f++) {
      const Vec3<T> turn = face_[f].n - face_[face].n;
      if (!face_[f].is_there || face_[face].d + small_ < face_[f].d || T(1e-12) < dot(turn, turn)) continue;
      const T in = inside(f);
      if (least < in) least = in, best = f;
    }
    return best;
  }

  FS_HD const Face& operator[](int f) const { return face_[f]; }
  FS_HD const Difference<T>& corner(int i) const { return corner_[i]; }
  FS_HD bool is_full() const { return corners_ == most_corners || most_faces < faces_ + 2 * corners_; }
  FS_HD bool has(const Vec3<T>& w) const {
    for (int i = 0; i < corners_; i++)
      if (dot(corner_[i].w - w, corner_[i].w - w) <= small_ * small_) return true;
    return false;
  }

  // Computes the weights of a face's corners that give the point of its plane nearest to zero.
  FS_HD void weights(int f, T (&weight)[3]) const {
    const Vec3<T>&a = at(f, 0), &b = at(f, 1), &c = at(f, 2), p = face_[f].n * face_[f].d;
    const Vec3<T> n = cross(b - a, c - a);
    const T inverse = rcp(dot(n, n));
    weight[0] = dot(n, cross(b - p, c - p)) * inverse;
    weight[1] = dot(n, cross(c - p, a - p)) * inverse;
    weight[2] = T(1.0) - weight[0] - weight[1];
  }

  // Adds the corner w, which is above face `from`. Returns false if rounding leaves no closed edge around the faces
  // below w.
  FS_HD bool grow(const Difference<T>& w, int from) {
    auto above = scratch<int>(most_faces);
    int count = 0;
    const auto take = [&](int f) { face_[f].is_there = false, above[count++] = f; };
    take(from);
    for (int i = 0; i < count; i++)
      for (const int f : face_[above[i]].beside)
        if (face_[f].is_there && -small_ < dot(face_[f].n, w.w) - face_[f].d) take(f);
    // edges around them, in any order; begins[a]: new face whose edge starts at corner a
    int begins[most_corners], edges = 0, first = faces_;
    for (int i = 0; i < corners_; i++) begins[i] = -1;
    for (int i = 0; i < count; i++)
      for (int k = 0; k < 3; k++) {
        const int a = face_[above[i]].corner[k], b = face_[above[i]].corner[(k + 1) % 3], f = face_[above[i]].beside[k];
        if (!face_[f].is_there) continue;
        if (begins[a] >= 0) return false;
        begins[a] = faces_, edges++;
        add(a, b, corners_, {f, -1, -1});
      }
    if (edges < 3) return false;
    corner_[corners_++] = w;
    for (int f = first; f < faces_; f++) {
      const int next = begins[face_[f].corner[1]], outside = face_[f].beside[0];
      if (next < 0) return false;
      face_[f].beside[1] = next, face_[next].beside[2] = f;
      for (int k = 0; k < 3; k++)
        if (face_[outside].corner[k] == face_[f].corner[1]) face_[outside].beside[k] = f;
      set_plane(f);
    }
    return true;
  }

 private:
  FS_HD const Vec3<T>& at(int f, int k) const { return corner_[face_[f].corner[k]].w; }
  struct Three { int of[3]; };
  FS_HD void add(int a, int b, int c, const Three& beside) {
    face_[faces_] = {{a, b, c}, {beside.of[0], beside.of[1], beside.of[2]}, true, zero3<T>(), T(0.0)};
    if (c < corners_) set_plane(faces_);
    faces_++;
  }
  // Computes the plane of a face. A face without area has no plane and is never the nearest.
  FS_HD void set_plane(int f) {
    const Vec3<T>&a = at(f, 0), &b = at(f, 1), &c = at(f, 2);
    // from the two edges at the corner opposite the longest edge
    const Vec3<T> ab = b - a, bc = c - b, ca = a - c;
    const T x = dot(ab, ab), y = dot(bc, bc), z = dot(ca, ca);
    const Vec3<T> n = y < x ? (z < x ? cross(bc, ca) : cross(ab, bc)) : (z < y ? cross(ca, ab) : cross(ab, bc));
    const T square = dot(n, n);
    if (square <= T(1e-60)) {
      face_[f].d = T(1e300);
      return;
    }
    face_[f].n = n * rcp(sqrt(square));
    face_[f].d = max(dot(face_[f].n, a), max(dot(face_[f].n, b), dot(face_[f].n, c)));
  }
  // Returns the least weight of a corner: negative if the nearest point is outside the face.
  FS_HD T inside(int f) const {
    if (T(1e200) < face_[f].d) return T(-1e300);
    T w[3];
    weights(f, w);
    return min(w[0], min(w[1], w[2]));
  }

  T small_;
  int corners_ = 0, faces_ = 0;
  Scratch<Difference<T>> corner_;
  Scratch<Face> face_;
};

// Chooses four differences far from coplanar, from those of a simplex and those along the axes.
template <class T> FS_HD void wide_tetrahedron(const auto& A, const auto& B, const Simplex<T>& s,
                                               Difference<T> (&c)[4]) {
  Difference<T> all[10];
  int n = 0;
  for (; n < s.n; n++) all[n] = s.corner[n];
  for (int k = 0; k < 3; k++)
    for (const double side : {-1.0, 1.0}) {
      Vec3<T> e = zero3<T>();
      e(k) = T(side);
      all[n++] = farthest_difference(A, B, e);
    }
  const auto pick = [&](int at, auto&& size) {
    T best(-1.0);
    for (int i = 0; i < n; i++) {
      const T x = size(all[i].w);
      if (best < x) best = x, c[at] = all[i];
    }
  };
  c[0] = all[0];
  pick(1, [&](const Vec3<T>& w) { return dot(w - c[0].w, w - c[0].w); });
  const Vec3<T> e = c[1].w - c[0].w;
  pick(2, [&](const Vec3<T>& w) { return dot(cross(e, w - c[0].w), cross(e, w - c[0].w)); });
  const Vec3<T> m = cross(e, c[2].w - c[0].w);
  pick(3, [&](const Vec3<T>& w) { return abs(dot(m, w - c[0].w)); });
}

// Computes the depth.
//
// in   s      last simplex of the search for nearest points
// in   small   lengths below it are treated as zero
// in   enough  permitted error of the depth, which may be too small by this
template <class T>
FS_HD Depth<T> least_depth(const auto& A, const auto& B, const Simplex<T>& s, const T& small, const T& enough) {
  Difference<T> first[4];
  wide_tetrahedron(A, B, s, first);
  Polytope<T> polytope(small);
  polytope.begin(first);
  int face = polytope.nearest();
  T most(1e300);
  while (!polytope.is_full()) {
    const auto& f = polytope[face];
    const Difference<T> w = farthest_difference(A, B, f.n, &polytope.corner(f.corner[0]));
    const T height = dot(f.n, w.w);
    most = min(most, height);
    if (height - f.d <= enough || polytope.has(w.w)) break;
    if (!polytope.grow(w, face)) break;
    face = polytope.nearest();
  }
  face = polytope.under_zero(face);
  Depth<T> r{polytope[face].d, most, polytope[face].n, {}, {}};
  T weight[3];
  polytope.weights(face, weight);
  r.at = {zero3<T>(), zero3<T>(), zero3<T>()};
  for (int k = 0; k < 3; k++) {
    r.corner[k] = polytope.corner(polytope[face].corner[k]);
    r.at.a = r.at.a + r.corner[k].a * weight[k], r.at.b = r.at.b + r.corner[k].b * weight[k];
  }
  return r;
}

}  // namespace featherstorm
