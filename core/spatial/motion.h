// Spatial motion and force vectors (RBDA chapter 2): different types, angular part first.
//
// The only product of a motion and a force is power, dot(m, f). The sparse motions are those of joints with one
// freedom: AngularZ {z} = (0 0 z; 0 0 0), LinearZ {z} = (0 0 0; 0 0 z), NoMotion = 0.
#pragma once
#include "core/spatial/vector3.h"

namespace featherstorm {

template <class T> struct Motion {
  Vec3<T> w, v;  // angular [rad/s], linear [m/s], of the body-fixed point at the frame's origin
};
template <class T> struct Force {
  Vec3<T> n, f;  // moment about the frame's origin [N m], force [N]
};
template <class T> struct AngularZ { T z; };
template <class T> struct LinearZ { T z; };
struct NoMotion {};

template <class T> FS_HD Motion<T> zero_motion() { return {zero3<T>(), zero3<T>()}; }
template <class T> FS_HD Force<T> zero_force() { return {zero3<T>(), zero3<T>()}; }

template <class T> FS_HD Motion<T> operator+(const Motion<T>& a, const Motion<T>& b) { return {a.w + b.w, a.v + b.v}; }
template <class T> FS_HD Motion<T> operator-(const Motion<T>& a, const Motion<T>& b) { return {a.w - b.w, a.v - b.v}; }
template <class T> FS_HD Motion<T> operator-(const Motion<T>& a) { return {-a.w, -a.v}; }
template <class A, Number B> FS_HD Motion<Product<A, B>> operator*(const Motion<A>& a, const B& s) {
  return {a.w * s, a.v * s};
}
template <class T> FS_HD Motion<T> operator+(const Motion<T>& a, const AngularZ<T>& b) {
  return {{a.w.x(), a.w.y(), a.w.z() + b.z}, a.v};
}
template <class T> FS_HD Motion<T> operator+(const Motion<T>& a, const LinearZ<T>& b) {
  return {a.w, {a.v.x(), a.v.y(), a.v.z() + b.z}};
}
template <class T> FS_HD Motion<T> operator+(const Motion<T>& a, NoMotion) { return a; }

template <class T> FS_HD Force<T> operator+(const Force<T>& a, const Force<T>& b) { return {a.n + b.n, a.f + b.f}; }
template <class T> FS_HD Force<T>& operator+=(Force<T>& a, const Force<T>& b) {
  add_to(a.n, b.n), add_to(a.f, b.f);
  return a;
}
template <class T> FS_HD Force<T> operator-(const Force<T>& a, const Force<T>& b) { return {a.n - b.n, a.f - b.f}; }
template <class T> FS_HD Force<T> operator-(const Force<T>& a) { return {-a.n, -a.f}; }
template <class A, Number B> FS_HD Force<Product<A, B>> operator*(const Force<A>& a, const B& s) {
  return {a.n * s, a.f * s};
}

// m . f, power. RBDA (2.12)
template <class A, class B> FS_HD Product<A, B> dot(const Motion<A>& m, const Force<B>& f) {
  return dot(m.w, f.n) + dot(m.v, f.f);
}

// v x m. RBDA (2.31)
template <class A, class B> FS_HD Motion<Product<A, B>> cross(const Motion<A>& v, const Motion<B>& m) {
  return {cross(v.w, m.w), cross(v.w, m.v) + cross(v.v, m.w)};
}
template <class T> FS_HD Motion<T> cross(const Motion<T>& v, const AngularZ<T>& m) {
  return {{v.w.y() * m.z, -(v.w.x() * m.z), T(0.0)}, {v.v.y() * m.z, -(v.v.x() * m.z), T(0.0)}};
}
template <class T> FS_HD Motion<T> cross(const Motion<T>& v, const LinearZ<T>& m) {
  return {zero3<T>(), {v.w.y() * m.z, -(v.w.x() * m.z), T(0.0)}};
}
// v x* f. RBDA (2.32)
template <class A, class B> FS_HD Force<Product<A, B>> cross_dual(const Motion<A>& v, const Force<B>& f) {
  return {cross(v.w, f.n) + cross(v.v, f.f), cross(v.w, f.f)};
}

// Components in the order of Plücker coordinates, 0..2 angular, 3..5 linear.
template <class T> FS_HD T component(const Motion<T>& m, int i) { return i < 3 ? m.w(i) : m.v(i - 3); }
template <class T> FS_HD T component(const Force<T>& f, int i) { return i < 3 ? f.n(i) : f.f(i - 3); }

}  // namespace featherstorm
