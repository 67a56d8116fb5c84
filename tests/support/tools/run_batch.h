// Rows of the table of operations run by name through an evaluator, on arrays of plain numbers.
#pragma once
#include <cmath>
#include <string_view>
#include <vector>

#include "host/engine/evaluator.h"

namespace featherstorm::testing {

using Numbers = std::vector<double>;
using Batch = std::vector<Numbers>;  // one array: the numbers of each instance

// The outputs of an operation. Its arrays are poisoned with NaN before it runs.
template <class Real = double>
std::vector<Batch> run_batch(Evaluator& e, std::string_view op, const std::vector<Batch>& in,
                             const Numbers& uniforms = {}, long repeat = 1, int frame = 0) {
  const OpRow& row = e.op(op);
  const long n = static_cast<long>(in[0].size());
  std::vector<Buffer> memory;
  std::vector<ArrayRef> from, to;
  const auto add = [&](std::vector<ArrayRef>& side, int components, const auto& number) {
    const Buffer& b = memory.emplace_back(precision_of<Real>(), n, components);
    for (int c = 0; c < components; c++)
      for (long i = 0; i < n; i++) b.component<Real>(c)[i] = static_cast<Real>(number(i, c));
    side.push_back(b.ref());
  };
  for (const Batch& array : in)
    add(from, static_cast<int>(array[0].size()), [&](long i, int c) { return array[i][c]; });
  for (const auto& array : row.out) add(to, array.components, [](long, int) { return NAN; });
  e.run(op, from, to, {uniforms, row.uses_frame ? frame : 0, repeat});
  std::vector<Batch> out;
  for (std::size_t k = 0; k < row.out.size(); k++) {
    out.emplace_back(n, Numbers(row.out[k].components));
    for (long i = 0; i < n; i++)
      for (int c = 0; c < row.out[k].components; c++) out[k][i][c] = memory[in.size() + k].component<Real>(c)[i];
  }
  return out;
}

// The same of one instance, an array each.
template <class Real = double>
Batch run_one(Evaluator& e, std::string_view op, const Batch& in, const Numbers& uniforms = {}, long repeat = 1,
              int frame = 0) {
  std::vector<Batch> arrays;
  for (const Numbers& x : in) arrays.push_back({x});
  Batch out;
  for (const Batch& array : run_batch<Real>(e, op, arrays, uniforms, repeat, frame)) out.push_back(array[0]);
  return out;
}

}  // namespace featherstorm::testing
