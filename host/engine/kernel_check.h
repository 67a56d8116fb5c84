// Compares each kernel made for one robot, before its first use, with the algorithm in double that takes the model as
// data.
//
// A kernel made for a robot depends on the robot's numbers: constants are folded, frames rotated, origins moved,
// inertias regrouped, machine code encoded. A fault in any of these steps gives wrong numbers for some robot that no
// test covers. Each kernel therefore runs once on random states, and once on states from which simulations start, such
// as rest in the neutral position.
//
// The allowed difference is measured in each state. It is the sum of:
// - the error of the algorithm in float, scaled to the precision of the kernel;
// - the change of the results in double when the inputs are off by a few roundings (the conditioning of the map),
//   scaled likewise;
// - 1e-9 (float: 2e-5) of the largest number of the output.
//
// A kernel is rejected if it exceeds the allowed difference in more than a quarter of the states of either kind. It is
// also rejected if any result is not finite where the algorithm in the same precision gives finite numbers: where
// limbs are in line, a pivot lost to rounding may be exactly zero.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "core/trace/program.h"
#include "host/memory/blocks.h"
#include "host/trace/draw.h"
#include "host/trace/row.h"

namespace featherstorm {

// Result of the comparison, for the worst state.
struct KernelCheck {
  std::string array;  // the output; empty where nothing was compared
  double error = 0;   // the largest difference, relative to the output's largest number
  double bound = 0;   // the allowed difference, likewise relative
  bool passed = true;
  bool lacks_numbers = false;  // the only failure: results not finite in some state where the algorithm's are
  // "tau differs by 8e-04 of its size from the algorithm in double, expected at most 1e-09"
  std::string words() const;
};

// The arrays of an operation, [array][component][instance].
using SampledArrays = std::vector<std::vector<std::vector<double>>>;
struct SampledRow {
  SampledArrays in;
  std::vector<double> uniforms;  // one array after another
};
// Random valid inputs of an operation. Parameters are the robot's own numbers. With Positions::where_robots_start, the
// first instance is Robot::q0, at rest and without forces.
SampledRow sample_row(const OpRow& row, const Robot& robot, int instances, unsigned seed,
                      Positions positions = Positions::anywhere);

// The outputs of a host kernel.
SampledArrays run_sampled(const BoundKernel& kernel, Precision precision, const OpRow& row, const SampledRow& inputs);

// Outputs of the algorithm.
struct SampledText {
  SampledArrays exact, rounded;  // in double, in float
  SampledArrays beside;          // in double, with inputs (from starting states: the model too) off by a few roundings
};
// Typical outputs of the algorithm. size: for each array, the median over instances of the largest number.
// conditioning: the median of the change that a few roundings cause.
struct Usual { std::vector<double> size, conditioning; };
Usual usual_of(const SampledText& text);
// Compares the outputs of a kernel in `precision` with those of the algorithm. usual: a smaller output, such as one
// that is zero at rest, is judged relative to this size.
KernelCheck compare(const OpRow& row, const Robot& robot, Precision precision, const SampledArrays& found,
                    const SampledText& text, const Usual& usual = {});

// Checks the kernel of an operation, made from `program`; `run` returns its outputs. No kernel for any robot computes
// derivatives, so they are compared with the program itself, evaluated node by node.
KernelCheck check_kernel(const OpRow& row, const Robot& robot, Precision precision, int frame, const Program& program,
                         const std::function<SampledArrays(const SampledRow&)>& run);

}  // namespace featherstorm
