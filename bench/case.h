// Random inputs of an operation, and the answers of the run-time-model kernels in double that others are compared with.
#pragma once
#include <string>
#include <vector>

#include "host/engine/evaluator.h"

namespace featherstorm {

// Inputs, outputs and reference answers of one operation on one batch; every instance is another valid state.
//
// A configuration q has angles in [-pi, pi], lengths in [-1, 1] and unit quaternions; M is an inertia matrix and L its
// factor; all else is uniform in [-1, 1]. For float32 all inputs are rounded to float before the reference is computed.
struct Case {
  // Any row of reference.ops(). `reference` must have no specialised kernels.
  Case(Evaluator& reference, std::string_view op, Precision precision, long instances, bool rows = false,
       unsigned seed = 1);

  // Runs the operation, after its outputs were filled with NaN where `poison` says so.
  void run(Evaluator& evaluator, bool poison = false);

  // How far the outputs are from the reference.
  struct Error {
    double largest = 0;   // largest over instances and output arrays of max |x - r| / max |r|
    double relative = 0;  // largest over output arrays of |X - R| / |R|, the 2-norms taken over the batch
  };
  Error error() const;

  std::string op;
  Precision precision;
  long instances;
  RunOptions options;
  std::vector<ArrayRef> in, out;

 private:
  void add_array(long components, bool rows, std::vector<ArrayRef>& list);
  std::vector<Buffer> buffers_;
  std::vector<std::vector<char>> rows_;  // memory of arrays in row-major order
  std::vector<Buffer> reference_;        // double, one per output
};

// The frame that operations with a frame are run for: the last one on a body with the most joints before it.
int deepest_frame(const Model<double>& m);

// Element of an array of any layout, as double.
double get(const ArrayRef& a, long instance, long component);
void set(const ArrayRef& a, long instance, long component, double value);

}  // namespace featherstorm
