// Softness from MuJoCo's solref and solimp.
#pragma once
#include <span>

#include "core/world/constraints.h"

namespace featherstorm {

inline Softness<double> softness_of(std::span<const double> solref, std::span<const double> solimp) {
  Softness<double> s;
  for (std::size_t k = 0; k < 2; k++) s.reference[k] = solref[k];
  for (std::size_t k = 0; k < 5; k++) s.impedance[k] = solimp[k];
  s.power = solimp[4] <= 1 ? 1 : solimp[4] == 2 ? 2 : 0;
  return s;
}

}  // namespace featherstorm
