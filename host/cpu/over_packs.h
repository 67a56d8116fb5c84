// Run an algorithm of the contact solver over packs of instances, for one instruction set.
#pragma once
#include "host/cpu/pack_view.h"

namespace featherstorm {

template <class Real>
using WholePack = Pack<Real, FEATHERSTORM_WIDTH* static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(Real))>;
template <class Real> using WholePackView = PackView<WholePack<Real>, Real>;

// Call text(from, to) for each pack of the instances first .. first + count - 1. from(k) is the pack's view of in[k],
// to(k) that of out[k].
template <class Real, class Text>
inline void over_packs(const Array* in, const Array* out, long first, long count, const Text& text) {
  constexpr long W = sizeof(WholePack<Real>) / sizeof(Real);
  for (long i = first; i < first + count; i += W) {
    const auto of = [i](const Array* all) {
      return [all, i](int k) { return WholePackView<Real>{static_cast<Real*>(all[k].data) + i, all[k].stride}; };
    };
    text(of(in), of(out));
  }
}

}  // namespace featherstorm
