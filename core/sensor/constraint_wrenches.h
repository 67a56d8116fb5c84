// Wrenches that contacts, connects and welds exert on links [part of cfrc_ext].
//
//   contacts      the sums of a step (core/sensor/contact_readings.h)
//   connect, weld f = (lambda_0, lambda_1, lambda_2) at the origin of frame 0 on the first link, -f at that of frame 1
//                 on the second
//   weld          also n = s/2 (Q_w lambda + vec Q x lambda) of lambda_3 to lambda_5, in the axes of frame 1
#pragma once
#include "core/constraint/equality_rows.h"
#include "core/sensor/frames.h"
#include "core/world/contact_readings.h"

namespace featherstorm {

// Adds a wrench at a point p to that of a link.
template <class T>
FS_HD void add_link_wrench(const auto& w, const auto& X, int link, const Vec3<T>& p, const Vec3<T>& n, const Vec3<T>& f,
                           auto& wrench) {
  const Vec3<T> moment = n + cross(Vec3<T>(p - in_world<T>(X, w.link[link].inertial).r), f);
  for (int k = 0; k < 3; k++) {
    wrench[6 * link + k] = wrench[6 * link + k] + f(k);
    wrench[6 * link + 3 + k] = wrench[6 * link + 3 + k] + moment(k);
  }
}

// in   X (nb + 1), q (nq)
// in   contact_link (n_links, 9)  force, moment and its reference point, world axes
// in   row_force (rows of constraints)
// out  wrench (6 n_links)  force, then moment about the link's centre of mass, world axes; zeros for the world
// Cost O(links + equalities).
template <class T>
FS_HD void constraint_wrenches(const auto& w, const auto& X, const auto& q, const auto& contact_link,
                               const auto& row_force, auto wrench) {
  const int links = w.n_links();
  for (int k = 0; k < 6 * links; k++) wrench[k] = T(0.0);
  if constexpr (is_given<std::remove_cvref_t<decltype(contact_link)>>)
    for (int l = 1; l < links; l++) {
      const int at = link_numbers * l;
      add_link_wrench(w, X, l, vector_at<T>(contact_link, at + 6), vector_at<T>(contact_link, at + 3),
                      vector_at<T>(contact_link, at), wrench);
    }
  if constexpr (is_given<std::remove_cvref_t<decltype(row_force)>>) {
    int row = 0;
    for (const auto& e : w.constraints.equality) {
      const int first = row;
      row += rows_of(e);
      if (rows_of(e) < 3) continue;
      const Vec3<T> f = vector_at<T>(row_force, first);
      Vec3<T> n = zero3<T>();
      if (e.kind == EqualityKind::Weld) {
        const Mat3<T> R = in_world<T>(X, e.place[1]).R;
        n = R *
            weld_axis(relative_orientation<T>(e, q), T(T(0.5) * T(e.torque_scale)), vector_at<T>(row_force, first + 3));
      }
      for (int k = 0; k < 2; k++)
        if (e.link[k] > 0)
          add_link_wrench(w, X, e.link[k], in_world<T>(X, e.place[k]).r, k == 0 ? n : Vec3<T>(-n),
                          k == 0 ? f : Vec3<T>(-f), wrench);
    }
  }
}

}  // namespace featherstorm
