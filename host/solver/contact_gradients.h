// Solve with Newton's last matrix, and compute the share of found contacts in the derivatives of a step, for one pack
// of instances. See host/gradients/world_gradients.h.
//
//   H lambda = a_bar,   H = M + J^T W J                          W = s'' of the rows at r = J a - aref
//   S = sum over contacts of (J lambda) . f(J a - aref)          its derivative with a and lambda held, f = -s'(r)
//
// Row k of a contact is e_k . Delta X(p). Delta X is the relative motion of the two bodies under X = lambda, a or v. S
// therefore depends on the points p, axes e and distances of contacts, and on the motions of bodies. With l = J lambda
// and z = W l
//
//   dS = sum_k f_k dl_k - z_k d(J a)_k + z_k daref_k + l . df of D
//
// p, e and distance follow from the relative pose of the two geoms: six derivatives of the closed form of the pair
// (Dual). Forces are proportional to D, and all D of a contact are proportional to one another. S also has derivatives
// by friction and by other numbers that differ among instances. Each is computed by the same algorithm with that number
// as a Dual.
//
// Poses and motions of bodies are given at the world's origin, along its axes: w is the angular velocity, and v the
// velocity of the body's point at the origin.
#pragma once
#include "host/solver/contact_numbers.h"
#include "host/solver/last_matrix.h"
#include "host/solver/moving_contacts.h"

namespace featherstorm {

// Outputs of the equations (host/trace/world_programs.h), the solution, and its cotangent.
template <class Array> struct GradientInputs {
  Array mass;                         // (nh)
  Array jacobian, D, aref, friction;  // rows of constraints
  Array placement, twist, axis;       // as in SolverInputs
  Array qacc, qacc_bar;               // (nv)
  Array touch, weights;
};
template <class Array> struct GradientOutputs {
  Array lambda;                // (nv)
  Array pose_bar;              // (6 (nb + 1))  of body poses: rotation, displacement
  Array lambda_bar, qacc_bar;  // (6 (nb + 1))  of body motions under lambda and under a
  Array twist_bar;             // (6 (nb + 1))  of body motions under v
  Array touch_bar;             // (touch.size)  of numbers that differ among instances
};

// A motion V at r, expressed at the world's origin.
template <class T> FS_HD Motion<T> at_origin(const Motion<T>& V, const Vec3<T>& r) {
  return {V.w, V.v - cross(V.w, r)};
}

// One contact's share of S and its derivatives.
template <class T> struct ContactShare {
  T distance_bar;
  Vec3<T> point_bar, axis_bar[3];
  Force<T> of[3];  // moment about the world's origin, force: cotangents of Delta lambda, Delta a, Delta v
};

// in   c          the contact; dimension: number of its rows
// in   motion     Delta X for X = lambda, a, v
// in   by_motion  (3 most_rows)  derivatives of S by the rows of Delta X
template <class T>
FS_HD void share_of_motions(const Candidate<T>& c, int dimension, const Motion<T>* motion, const auto& by_motion,
                            ContactShare<T>& s) {
  const Vec3<T>& p = c.contact.point;
  s.point_bar = zero3<T>();
  for (Vec3<T>& e : s.axis_bar) e = zero3<T>();
  for (int x = 0; x < 3; x++) {
    const Motion<T>& V = motion[x];
    const Vec3<T> at = V.v + cross(V.w, p);
    Vec3<T> force = zero3<T>(), couple = zero3<T>();
    for (int k = 0; k < dimension; k++) {
      const T& weight = by_motion[x * most_rows + k];
      const Vec3<T>& e = c.frame.e[k % 3];
      Vec3<T>& e_bar = s.axis_bar[k % 3];
      if (k < 3) force = force + e * weight, e_bar = e_bar + at * weight;
      else couple = couple + e * weight, e_bar = e_bar + V.w * weight;
    }
    s.point_bar = s.point_bar + cross(force, V.w);
    s.of[x] = {cross(p, force) + couple, force};
  }
}

// dS for one relative motion of the geoms.
//
// in   c  the contact with derivatives along that motion
template <class T> FS_HD T share_along(const ContactShare<T>& s, const Candidate<Dual<T>>& c) {
  const auto slope = [](const Vec3<Dual<T>>& v) { return Vec3<T>{v.x().d, v.y().d, v.z().d}; };
  T sum = s.distance_bar * c.contact.distance.d + dot(s.point_bar, slope(c.contact.point));
  for (int k = 0; k < 3; k++) sum = sum + dot(s.axis_bar[k], slope(c.frame.e[k]));
  return sum;
}

// A placement with its derivative along one of six motions (`way`) about the world's origin: rotations about x, y, z,
// then displacements.
template <class T> FS_HD Placement<Dual<T>> moved_along(const Placement<T>& X, int way) {
  Placement<Dual<T>> Y = cast<Dual<T>>(X);
  const auto turned = [&](const Vec3<T>& v) {
    return cross(Vec3<T>{T(way == 0 ? 1.0 : 0.0), T(way == 1 ? 1.0 : 0.0), T(way == 2 ? 1.0 : 0.0)}, v);
  };
  if (way >= 3) {
    Y.r(way - 3).d = T(1.0);
    return Y;
  }
  const Vec3<T> r = turned(X.r);
  for (int k = 0; k < 3; k++) {
    const Vec3<T> e = turned(axis_of(X, k));
    Y.r(k).d = r(k);
    for (int i = 0; i < 3; i++) Y.R(i, k).d = e(i);
  }
  return Y;
}

// The same contact with the derivative for the motion of geom 1 instead of geom 2. If both geoms move together, the
// contact moves rigidly with them, so the derivative for geom 1 is that of the rigid motion minus that for geom 2.
template <class T> FS_HD ContactPoint<Dual<T>> moved_back(const ContactPoint<Dual<T>>& c, int way) {
  const auto other = [&](const Vec3<Dual<T>>& v, bool is_point) {
    Placement<T> at{Mat3<T>{}, {v.x().x, v.y().x, v.z().x}};
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) at.R(i, k) = T(0.0);
    Vec3<Dual<T>> both = moved_along(at, way).r;
    for (int k = 0; k < 3; k++) both(k).d = (is_point || way < 3 ? both(k).d : T(0.0)) - v(k).d;
    return both;
  };
  return {{c.distance.x, -c.distance.d}, other(c.point, true), other(c.normal, false)};
}

template <class T> FS_HD void add_to(const auto& array, int body, const T& sign, const Force<T>& f) {
  for (int k = 0; k < 3; k++) {
    array[6 * body + k] = array[6 * body + k] + sign * f.n(k);
    array[6 * body + 3 + k] = array[6 * body + 3 + k] + sign * f.f(k);
  }
}

template <class T>
FS_HD void contact_gradients(const auto& solver, const auto& in, const auto& out) {
  using U = Dual<T>;
  const auto& w = solver.world;
  const int nv = solver.nv;
  const FoundRows<T> found(solver, in, true);
  const PresentRows<T>& present = found.present();
  auto force = scratch<T>(most_rows * (present.count + 1)), W = scratch<T>(most_entries * (present.count + 1));
  auto lambda = scratch<T>(nv);
  for (int k = 0; k < nv; k++) lambda[k] = in.qacc_bar[k];
  solve_last_matrix(solver, present, in, force.data(), W.data(), lambda.data());
  for (int k = 0; k < nv; k++) out.lambda[k] = lambda[k];
  for (int k = 0; k < solver.touch.size; k++) out.touch_bar[k] = T(0.0);
  if (solver.contacts.slots == 0) return;
  for (int k = 0; k < 6 * (solver.nb + 1); k++)
    out.pose_bar[k] = out.lambda_bar[k] = out.qacc_bar[k] = out.twist_bar[k] = T(0.0);

  using Memory = std::remove_cvref_t<decltype(in.placement)>;
  const Placements<T, Memory> X{in.placement};
  const Motions<T, Memory> twist{in.twist}, axis{in.axis};
  GeomPlaces<T, std::remove_cvref_t<decltype(solver)>, Placements<T, Memory>, Memory> places(solver, X, in.touch);
  auto moving = scratch<ContactPoint<U>>(most_slots);
  auto share = scratch<ContactShare<T>>(most_slots);
  // nvcc 13.0 places local arrays of functions inlined in these loops over arrays that are still in use
  auto l = scratch<T>(most_rows), z = scratch<T>(most_rows), by_motion = scratch<T>(3 * most_rows);
  auto own = scratch<U>(most_rows), position = scratch<U>(most_rows), rows_D = scratch<U>(most_rows),
       reference = scratch<U>(most_rows), active = scratch<U>(most_rows), coefficient = scratch<U>(most_rows);
  auto pair_here = scratch<ContactPair<T>>(1);
  const ConstraintRows<U*> law_rows{
      {}, position.data(), rows_D.data(), reference.data(), active.data(), coefficient.data()};
  const ContactLaw<U> law = law_among<U>(solver, AlongOne<T, Memory>{in.touch, -1});
  for (int first = present.constraints, end; first < present.count; first = end) {
    const int p = present.block[first].source;
    for (end = first; end < present.count && present.block[end].source == p;) end++;
    pair_here[0] = pair_among<T>(solver, p, in.touch);
    const ContactPair<T>& pair = pair_here[0];
    const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
    const Placement<T>&A = places[pair.geom[0]], &B = places[pair.geom[1]];
    const int d = pair.dimension, n = solver.pairs.columns(p);
    const int body_a = a.place.body, body_b = b.place.body;
    // Delta X for lambda, a, v
    Motion<T> motion[3] = {zero_motion<T>(), zero_motion<T>(), zero_motion<T>()};
    for (int k = 0; k < n; k++) {
      const PathColumn& column = solver.pairs.column[solver.pairs.start[p] + k];
      const Motion<T> S = at_origin(axis[column.v], X[column.body].r);
      const T sign(column.first ? -1.0 : 1.0), by_lambda = sign * lambda[column.v], by_a = sign * in.qacc[column.v];
      motion[0] = {motion[0].w + S.w * by_lambda, motion[0].v + S.v * by_lambda};
      motion[1] = {motion[1].w + S.w * by_a, motion[1].v + S.v * by_a};
    }
    for (const int body : {body_b, body_a}) {
      if (body == 0) continue;
      const Motion<T> V = at_origin(twist[body], X[body].r);
      const T sign(body == body_b ? 1.0 : -1.0);
      motion[2] = {motion[2].w + V.w * sign, motion[2].v + V.v * sign};
    }
    for (int i = first; i < end; i++) {
      const PresentBlock& c = present.block[i];
      const Candidate<T> at{present.point[i], candidate_frame(a, b, B, present.point[i].normal)};
      T velocity[most_rows];
      block_times<T>(slice(present.J, c.J), d, n, [&](int k) { return column_of(solver, c, k); }, lambda, l.data());
      relative_velocity(X, twist, body_a, body_b, at, d, velocity);
      // derivatives of aref and D with respect to the distance, and of aref with respect to the velocity
      const U inertia = usual_inertia<U>(pair, law.cone);
      for (int k = 0; k < d; k++) own[k] = U(velocity[k], T(1.0));
      set_contact_rows(law, pair, inertia, U(at.contact.distance), own.data(), law_rows);
      T by_force(0.0);
      for (int k = 0; k < d; k++) {
        z[k] = T(0.0);
        for (int j = 0; j < d; j++) z[k] = z[k] + W[most_entries * i + symmetric(k, j)] * l[j];
        by_motion[k] = force[most_rows * i + k], by_motion[most_rows + k] = -z[k];
        by_motion[2 * most_rows + k] = z[k] * reference[k].d;
        by_force = by_force + force[most_rows * i + k] * l[k];
        own[k] = U(velocity[k]);
      }
      set_contact_rows(law, pair, inertia, U(at.contact.distance, T(1.0)), own.data(), law_rows);
      ContactShare<T>& s = share[i - first];
      share_of_motions(at, d, motion, by_motion, s);
      s.distance_bar = by_force * rows_D[0].d * rcp(max(rows_D[0].x, T(1e-30)));
      for (int k = 0; k < d; k++) s.distance_bar = s.distance_bar + z[k] * reference[k].d;
      const auto here = where<T>(c.instances);
      for (int x = 0; x < 3; x++) {
        Force<T> f = s.of[x];
        for (int k = 0; k < 3; k++) f.n(k) = select(here, f.n(k), T(0.0)), f.f(k) = select(here, f.f(k), T(0.0));
        const auto& bar = x == 0 ? out.lambda_bar : x == 1 ? out.qacc_bar : out.twist_bar;
        add_to(bar, body_b, T(1.0), f), add_to(bar, body_a, T(-1.0), f);
      }
    }
    const Placement<U> still_a = cast<U>(A), still_b = cast<U>(B);
    T margin;
    for (int way = 0; way < 6; way++) {
      const Placement<U> moved = moved_along(B, way);
      find_points(solver, p, still_a, moved, in.touch, margin, moving.data());
      for (int i = first; i < end; i++) {
        const PresentBlock& c = present.block[i];
        const ContactPoint<U> contact = nearest_slot(present.point[i], moving.data(), pair.slots);
        const auto here = where<T>(c.instances);
        const auto add = [&](int body, const ContactPoint<U>& at, const Placement<U>& place) {
          if (body == 0) return;
          const T along = share_along(share[i - first], Candidate<U>{at, candidate_frame(a, b, place, at.normal)});
          out.pose_bar[6 * body + way] = out.pose_bar[6 * body + way] + select(here, along, T(0.0));
        };
        add(body_b, contact, moved);
        add(body_a, moved_back(contact, way), still_b);
      }
    }
    for (int k = solver.first_number[p]; k < solver.first_number[p + 1]; k++) {
      const int number = solver.number[k];
      out.touch_bar[number] = out.touch_bar[number] + slope_by_number(solver, in, present, first, end, motion, number);
    }
  }
}

}  // namespace featherstorm
