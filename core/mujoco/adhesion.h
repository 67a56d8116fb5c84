// Adhesion of bodies: an actuator that pulls a body towards the surfaces that it touches [body transmission].
//
//   moment = -1/n sum over the n contacts of the body of J_c,   J_c v the separation speed of the contact's geoms
//
// Contacts in the gap also count, although they have no forces. The length is always 0, and the moment is 0 without
// contacts. Pairs without a closed form cannot be traced. MuJoCo's documentation, XML reference, actuator/adhesion.
#pragma once
#include "core/collision/candidates.h"
#include "core/passive/body_passes.h"

namespace featherstorm {

// Writes the moments of all adhesion actuators.
//
// in      x (nx), X (nb + 1)  joint numbers and placements of the bodies
// in-out  moment (n_outputs nv)  rows of these actuators are written
// Cost O(nb) plus the contacts of the body's pairs, for each such actuator.
FS_HD void adhesion_moments(const auto& m, const auto& w, const auto& x, const auto& X, auto moment) {
  using T = ScalarOf<decltype(x)>;
  const T zero(0.0), one(1.0);
  for (const auto& actuator : w.actuator) {
    if (actuator.transmission != Transmission::Adhesion) continue;
    auto f = scratch<Force<T>>(m.nb + 1);
    for (int i = 0; i <= m.nb; i++) f[i] = zero_force<T>();
    T count(0.0);
    for (const int p : actuator.pair) {
      const auto& pair = w.contacts.pair[p];
      const auto &a = w.contacts.geom[pair.geom[0]], &b = w.contacts.geom[pair.geom[1]];
      ContactPoint<T> point[most_slots];
      contact_points(w.contacts, pair, geom_placement<T>(X, a), geom_placement<T>(X, b), point);
      for (int k = 0; k < pair.slots; k++) {
        const auto there = point[k].distance <= T(pair.detection);
        const Vec3<T> o = zero3<T>(), at = select_point(there, point[k].point, o),
                      normal = select_point(there, point[k].normal, o);
        count = count + select(there, one, zero);
        // the normal points from geom a to geom b
        const auto add = [&](int body, const Vec3<T>& force) {
          const Mat3<T>& R = X[body].R;
          f[body] += Force<T>{transpose_times(R, cross(at - X[body].r, force)), transpose_times(R, force)};
        };
        if (a.place.body > 0) add(a.place.body, normal);
        if (b.place.body > 0) add(b.place.body, -normal);
      }
    }
    // n is 0 or at least 1
    const T share = rcp(max(count, one));
    for (int i = 1; i <= m.nb; i++) f[i] = f[i] * share;
    joint_forces_of_wrenches(m, x, f, slice(moment, actuator.output * m.nv));
  }
}

}  // namespace featherstorm
