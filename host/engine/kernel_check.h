// Kernels made for one robot are compared, before they serve, with the text that takes the model as data, in double.
//
// What is made for a robot rests on its numbers: constants fold, frames turn, origins slide, inertias are regrouped, machine
// code is encoded. A fault in any of these gives wrong numbers for some robot that no test had. So each kernel runs once, on
// random states, and on states where people start robots, as at rest in the neutral position. How far it may be off is measured in
// each state: by the text's own error in float, and by what the text in double makes of numbers that are off by a few roundings,
// which tell how well the map is conditioned there, scaled to the precision of the kernel, and 1e-9 (float: 2e-5) of the largest
// number of the output. A kernel that is further off in more than a quarter of the states of either kind is not used, nor one that
// gives no number in any of them where the text in its precision gives numbers: where limbs are in line, a pivot that is lost to
// rounding may be exactly zero.
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

// What came of it; of the state that is worst.
struct KernelCheck {
  std::string array;  // the output; empty where nothing was compared
  double error = 0;   // the largest difference, over the output's largest number
  double bound = 0;   // what was allowed
  bool passed = true;
  bool lacks_numbers =
      false;  // the one reason why it did not pass: in some state it has no numbers where the text has them
  // "tau differs by 8e-04 of its size from the text in double, expected at most 1e-09"
  std::string words() const;
};

// SampledArrays of a row's arrays, [array][component][instance].
using SampledArrays = std::vector<std::vector<std::vector<double>>>;
struct SampledRow {
  SampledArrays in;
  std::vector<double> uniforms;  // one array behind the other
};
// Random inputs that a row makes sense of; parameters are the robot's own numbers. Where robots start, the first instance is
// Robot::q0, at rest and without forces.
SampledRow sample_row(const OpRow& row, const Robot& robot, int instances, unsigned seed,
                      Positions positions = Positions::anywhere);

// The outputs of a kernel of the host.
SampledArrays run_sampled(const BoundKernel& kernel, Precision precision, const OpRow& row, const SampledRow& inputs);

// Outputs of the text.
struct SampledText {
  SampledArrays exact, rounded;  // in double, in float
  SampledArrays beside;          // in double, from inputs (where robots start: of a robot too) off by a few roundings
};
// What outputs of the text usually are: of each array the middle one of the instances' largest numbers, and the same of what a few
// roundings make of them.
struct Usual { std::vector<double> size, conditioning; };
Usual usual_of(const SampledText& text);
// Compares the outputs of a kernel in `precision` with those of the text. usual: an output that is less, as much is zero at rest,
// is judged beside that.
KernelCheck compare(const OpRow& row, const Robot& robot, Precision precision, const SampledArrays& found,
                    const SampledText& text, const Usual& usual = {});

// Checks a kernel of a row, made from `program`; `run` gives its outputs. Derivatives, which no kernel for any robot computes,
// are compared with the program itself, walked through node by node.
KernelCheck check_kernel(const OpRow& row, const Robot& robot, Precision precision, int frame, const Program& program,
                         const std::function<SampledArrays(const SampledRow&)>& run);

}  // namespace featherstorm
