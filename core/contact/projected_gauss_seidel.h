// Solver of the contact problems of a batch: a fixed number of projected Gauss-Seidel sweeps on the Delassus matrix A.
//
//   w = A lambda + b
//   normals    w_n >= 0,  lambda_n >= 0,  w_n lambda_n = 0                                              RBDA (11.42)
//   tangents   |lambda_t| <= mu lambda_n,  w_t = 0 inside the disc, w_t = -s lambda_t, s >= 0, on its edge    (Coulomb)
//
// One sweep solves each contact's normal row, then its pair of tangent rows, with the other forces held:
//
//   lambda_n = max(0, lambda_n - w_n / A_nn)
//   lambda_t = lambda_t - A_tt^-1 w_t                      if that lies in the disc: sticks
//            = project(lambda_t - w_t / lmax(A_tt))        else: slips
//
// If A_tt is singular, as for a planar robot, lmax replaces it in the first line too. project returns the nearest point
// of the disc.
//
// Both tangents share one step length. A fixed point therefore has w_t opposite to lambda_t. This is Coulomb's law in
// all directions, independent of the choice of tangents; scaling each tangent by its own diagonal would not give it.
//
// Without friction a sweep is Gauss-Seidel on the QP (11.43): each sweep lowers the objective. Sweeps converge for
// every solvable problem, even if A is singular. With friction they are a fixed-point iteration without such a
// guarantee.
//
// Friction::Pyramid replaces the disc by the square |lambda_t| <= mu lambda_n, |lambda_u| <= mu lambda_n, and scales
// each tangent by its own diagonal element. This friction depends on the choice of tangents. It exists for comparison
// with solvers that use it.
//
// The sweep is a separate algorithm. With Expr, a loop over sweeps is unrolled. A Program that traces a single sweep
// and carries lambda (trace/program.h) runs them as a real loop instead.
#pragma once
#include "core/scalar/scratch.h"

namespace featherstorm {

enum class Friction { Cone, Pyramid };

// Returns 1 / x if x > 0, else 0.
template <class T> FS_HD T rcp_or_zero(const T& x) {
  const T zero(0.0);
  const auto positive = zero < x;
  return select(positive, rcp(select(positive, x, T(1.0))), zero);
}

// Computes weights for contacts without friction.
// in      active (n)  1, or 0 for contacts that are excluded
// out     inverse (n)  1 / A_kk, 0 for excluded contacts
// in out  lambda (n)  set to 0 for excluded contacts
FS_HD void normal_weights(int n, const auto& A, const auto& active, auto inverse, auto lambda) {
  using T = ScalarOf<decltype(A)>;
  for (int k = 0; k < n; k++) {
    const auto on = T(0.5) < active[k];
    inverse[k] = select(on, rcp_or_zero(T(A[k * n + k])), T(0.0));
    lambda[k] = select(on, T(lambda[k]), T(0.0));
  }
}
FS_HD void normal_sweep(int n, const auto& A, const auto& b, const auto& inverse, auto lambda) {
  using T = ScalarOf<decltype(A)>;
  for (int k = 0; k < n; k++) {
    T w = b[k];
    for (int j = 0; j < n; j++) w = w + A[k * n + j] * lambda[j];
    lambda[k] = max(lambda[k] - w * inverse[k], T(0.0));
  }
}

// Computes weights for contacts with friction: rows normal, tangent 1, tangent 2 of each contact.
// in      A (nr nr)
// in      active (nc)  as above
// out     weights (6 nc)  1 / A_nn; 11, 12, 22 of A_tt^-1 or of 1 / lmax(A_tt); 1 / lmax(A_tt); mu
// in out  lambda (nr)
FS_HD void contact_weights(const auto& contacts, const auto& A, const auto& active, auto weights, auto lambda) {
  using T = ScalarOf<decltype(A)>;
  const T zero(0.0), half(0.5);
  const int n = 3 * contacts.nc;
  for (int k = 0; k < contacts.nc; k++) {
    const int i = 3 * k, t = i + 1, u = i + 2;
    const auto on = half < active[k];
    const T a = A[t * n + t], b = A[u * n + t], c = A[u * n + u], s = half * (a + c), d = half * (a - c);
    const T step = select(on, rcp_or_zero(s + sqrt(d * d + b * b)), zero);
    // the determinant, if it exceeds rounding
    const T determinant = select(on, a * c - b * b, zero), inverse = rcp_or_zero(determinant);
    const auto regular = T(1e-4) * s * s < determinant;
    weights[6 * k] = select(on, rcp_or_zero(T(A[i * n + i])), zero);
    weights[6 * k + 1] = select(regular, c * inverse, step);
    weights[6 * k + 2] = select(regular, -(b * inverse), zero);
    weights[6 * k + 3] = select(regular, a * inverse, step);
    weights[6 * k + 4] = step;
    weights[6 * k + 5] = T(contacts.contact[k].friction);
    for (int r = i; r < i + 3; r++) lambda[r] = select(on, T(lambda[r]), zero);
  }
}

// Projects (x, y) to the nearest point of the disc of radius `radius` about 0. A length below 1e-15 counts as 1e-15.
template <class T> FS_HD void project_on_disc(const T& radius, T& x, T& y) {
  const T square = max(x * x + y * y, T(1e-30));
  const T scale = min(radius * rcp(sqrt(square)), T(1.0));
  x = x * scale, y = y * scale;
}

// Takes one step of the tangent forces l_t, l_u with residuals w_t, w_u.
template <class T>
FS_HD void friction_step(const auto& weights, int k, const T& normal, const T& w_t, const T& w_u, T& l_t, T& l_u) {
  const T radius = weights[6 * k + 5] * normal, step = weights[6 * k + 4];
  const T x = l_t - (weights[6 * k + 1] * w_t + weights[6 * k + 2] * w_u);
  const T y = l_u - (weights[6 * k + 2] * w_t + weights[6 * k + 3] * w_u);
  const auto sticks = x * x + y * y <= radius * radius;
  T slip_x = l_t - step * w_t, slip_y = l_u - step * w_u;
  project_on_disc(radius, slip_x, slip_y);
  l_t = select(sticks, x, slip_x), l_u = select(sticks, y, slip_y);
}

template <Friction friction = Friction::Cone>
FS_HD void contact_sweep(const auto& contacts, const auto& A, const auto& b, const auto& weights, auto lambda) {
  using T = ScalarOf<decltype(A)>;
  const int n = 3 * contacts.nc;
  // The sum begins with the force that was changed longest ago, because each force waits for the one before it, and all
  // of the sum but its last terms may be computed meanwhile.
  auto residual = [&](int r, int oldest) {
    T w = b[r];
    for (int j = oldest; j < n; j++) w = w + A[r * n + j] * lambda[j];
    for (int j = 0; j < oldest; j++) w = w + A[r * n + j] * lambda[j];
    return w;
  };
  for (int k = 0; k < contacts.nc; k++) {
    const int i = 3 * k;
    lambda[i] = max(lambda[i] - residual(i, i) * weights[6 * k], T(0.0));
    if constexpr (friction == Friction::Pyramid) {
      const T radius = weights[6 * k + 5] * lambda[i], on = select(T(0.0) < weights[6 * k + 4], T(1.0), T(0.0));
      for (int r = i + 1; r < i + 3; r++) {
        const T l = lambda[r] - residual(r, r) * (on * rcp_or_zero(T(A[r * n + r])));
        lambda[r] = max(min(l, radius), -radius);
      }
      continue;
    }
    const T w_t = residual(i + 1, i + 1), w_u = residual(i + 2, i + 1);
    T l_t = lambda[i + 1], l_u = lambda[i + 2];
    friction_step(weights, k, T(lambda[i]), w_t, w_u, l_t, l_u);
    lambda[i + 1] = l_t, lambda[i + 2] = l_u;
  }
}

// Returns the error of lambda: the largest change, times A's diagonal, that a simultaneous step would make. It is 0
// exactly at solutions. Same units as b.
FS_HD auto contact_residual(const auto& contacts, const auto& A, const auto& b, const auto& weights,
                            const auto& lambda) {
  using T = ScalarOf<decltype(A)>;
  const int n = 3 * contacts.nc;
  T largest(0.0);
  for (int k = 0; k < contacts.nc; k++) {
    T w[3];
    for (int r = 0; r < 3; r++) {
      w[r] = b[3 * k + r];
      for (int j = 0; j < n; j++) w[r] = w[r] + A[(3 * k + r) * n + j] * lambda[j];
    }
    const T l_n = lambda[3 * k], step = weights[6 * k + 4];
    const T normal = max(l_n - w[0] * weights[6 * k], T(0.0));
    T x = lambda[3 * k + 1] - step * w[1], y = lambda[3 * k + 2] - step * w[2];
    project_on_disc(T(weights[6 * k + 5] * l_n), x, y);
    largest = max(largest, abs(normal - l_n) * rcp_or_zero(T(weights[6 * k])));
    const T scale = rcp_or_zero(step);
    largest = max(largest, max(abs(x - lambda[3 * k + 1]) * scale, abs(y - lambda[3 * k + 2]) * scale));
  }
  return largest;
}

}  // namespace featherstorm
