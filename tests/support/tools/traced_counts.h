// Operation counts of an algorithm when it is traced, as for making kernels.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "core/program/count.h"
#include "core/program/order.h"

namespace featherstorm::testing {

// Counts of f(inputs, outputs) traced with inputs of these sizes.
template <class F>
Counts traced(std::initializer_list<int> sizes, int outputs, F f) {
  Program p;
  std::vector<std::vector<Expr>> in;
  for (int n : sizes) in.push_back(p.input("x" + std::to_string(in.size()), n));
  {
    Tracing scope(p.graph);
    std::vector<Expr> y(outputs);
    f(in, y.data());
    p.output("y", y);
  }
  return count(p, trace_order(p));
}

// Counts of the vector f(inputs), traced with this many inputs.
template <class F>
Counts traced(int inputs, F f) {
  Program p;
  const std::vector<Expr> x = p.input("x", inputs);
  {
    Tracing scope(p.graph);
    p.output("y", f(x));
  }
  return count(p, trace_order(p));
}

}  // namespace featherstorm::testing
