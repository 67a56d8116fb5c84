// Coriolis matrices of every form as dense matrices, for tests.
#pragma once
#include <limits>

#include "core/rates/coriolis_matrix.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::testing {

template <Coriolis form>
Eigen::MatrixXd coriolis(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers C(m.nv * m.nv, NAN);
  coriolis_matrix<form>(m, q.data(), v.data(), C.data());
  return square(C, m.nv);
}
// f of each form
template <class F>
void for_every_form(F f) {
  f(std::integral_constant<Coriolis, Coriolis::Christoffel>{});
  f(std::integral_constant<Coriolis, Coriolis::BodyFixed>{});
  f(std::integral_constant<Coriolis, Coriolis::MassCentre>{});
}

// Infinite where an entry was not written.
inline double largest_entry(const Eigen::MatrixXd& a) {
  return a.allFinite() ? a.cwiseAbs().maxCoeff() : std::numeric_limits<double>::infinity();
}

}  // namespace featherstorm::testing
