// Makes a Softness from MuJoCo's solref and solimp.
#pragma once
#include <vector>

#include "core/world/constraints.h"
#include "host/world/world_tables.h"

namespace featherstorm {

template <class T> Softness<T> softness_of(const std::vector<T>& solref, const std::vector<T>& solimp) {
  Softness<T> s;
  for (std::size_t k = 0; k < 2; k++) s.reference[k] = solref[k];
  for (std::size_t k = 0; k < 5; k++) s.impedance[k] = solimp[k];
  const double power = known(solimp[4]);
  s.power = power <= 1 ? 1 : power == 2 ? 2 : 0;
  return s;
}

}  // namespace featherstorm
