// External forces on bodies, given in world axes with the moment about each body's origin.
//
// The conversion to body axes needs only the body's orientation; nothing is computed where no force is given.
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

template <class T, class F, class M> class ExternalForce {
 public:
  FS_HD ExternalForce(const M& m, const F& f_ext) : f_ext_(f_ext), R_(scratch<Mat3<T>>(m.nb + 1)) {
    R_[0] = identity_placement<T>().R;
  }
  // The force on body i in its axes; call for bodies in ascending order.
  FS_HD Force<T> on_body(int i, int parent, const auto& J) {
    R_[i] = R_[parent] * J.placement().R;
    const auto f = slice(f_ext_, 6 * (i - 1));
    return {transpose_times(R_[i], Vec3<T>{f[0], f[1], f[2]}), transpose_times(R_[i], Vec3<T>{f[3], f[4], f[5]})};
  }

 private:
  F f_ext_;
  ScratchOf<Mat3<T>, BodiesOf<M>> R_;
};

template <class T, class M> class ExternalForce<T, Zeros<T>, M> {
 public:
  FS_HD ExternalForce(const M&, const Zeros<T>&) {}
  FS_HD Zeros<T> on_body(int, int, const auto&) { return {}; }
};

template <class T> FS_HD Force<T> operator-(const Force<T>& f, Zeros<T>) { return f; }

// f_ext as forces of T on the bodies of m.
template <class T, class F, class M> FS_HD ExternalForce<T, F, M> external_force(const M& m, const F& f_ext) {
  return ExternalForce<T, F, M>(m, f_ext);
}

}  // namespace featherstorm
