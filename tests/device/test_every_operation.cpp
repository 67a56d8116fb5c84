// Every operation of the table that has a CUDA kernel for any robot, against the reference in double, in both
// precisions. Each instance is different and is compared.
#include <gtest/gtest.h>

#include <cmath>

#include "host/load/load.h"
#include "tests/device/special.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_every_operation {
namespace {

using namespace testing;

struct Kind {
  Robot robot;
  Needs only = Needs::nothing;  // other operations are singular on this robot, or another robot's
  bool large = false;           // few instances: the size of the robot is what matters
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    const auto all_joints = [](unsigned seed, int bodies, bool floating) {
      RandomOptions o;
      o.types.pop_back();  // no user-defined joints
      o.bodies = bodies, o.floating = floating, o.roots = 0;
      return random_robot(seed, o);
    };
    const RandomOptions largest{.bodies = 64, .types = {JointType::Helical}, .branching = 0.2};
    // All classes of model sizes (make_cuda_model). The screws are the largest robot that fits.
    return std::vector<Kind>{{all_joints(42, 5, true)},
                             {all_joints(45, 3, false), Needs::nothing, true},
                             {all_joints(46, 12, false), Needs::nothing, true},
                             {load("go2"), Needs::nothing, true},
                             {load("atlas"), Needs::nothing, true},
                             {random_robot(7, largest), Needs::nothing, true},
                             {touching(all_joints(43, 3, true)), Needs::contacts},
                             {closed_robot(four_bar()), Needs::loops},
                             {closed_robot(parallel_leg()), Needs::loops},
                             {closed_robot(stewart_platform()), Needs::loops, true},
                             {gripper(), Needs::coupling}};
  }();
  return all;
}

struct Row {
  RowText text;
  bool uses_frame;
  std::vector<const Kind*> kinds;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> made;
    for_every_op([&](auto row, int) {
      using Op = decltype(row);
      Row r{row_text<Op>(), Op::info.uses_frame, {}};
      for (const Kind& k : kinds())
        if (on_device<Op>(k.robot.model) && (k.only == Needs::nothing || k.only == Op::info.needs))
          r.kinds.push_back(&k);
      made.push_back(std::move(r));
    });
    return made;
  }();
  return all;
}

// An operation on one robot: inputs that float represents exactly, exact outputs, and the tolerance of each output.
struct Reference {
  const Row& row;
  const Robot& robot;
  RunOptions options;
  std::vector<std::vector<std::vector<double>>> inputs, exact;  // [instance][array][component]
  std::vector<double> single, in_double;                        // tolerances, [output]
  Reference(const Row& row, const Robot& robot, long count, int repeat) : row(row), robot(robot) {
    const Model<double>& m = robot.model;
    const Model<float> f = cast<float>(m);
    const auto uniforms = op_uniforms(row.text, m);
    for (const auto& u : uniforms) options.uniforms.insert(options.uniforms.end(), u.begin(), u.end());
    options.frame = row.uses_frame ? m.nf - 1 : 0, options.repeat = repeat;
    std::vector<double> error(row.text.out.size()), scale = error;
    for (long i = 0; i < count; i++) {
      auto in = op_inputs(row.text, m, 1000 + static_cast<unsigned>(i));
      for (auto& a : in)
        for (double& x : a) x = static_cast<float>(x);
      const auto y = run_on_host<double>(row.text, m, in, uniforms, options.frame, repeat);
      const auto rounded = run_on_host<float>(row.text, f, in, uniforms, options.frame, repeat);
      for (std::size_t k = 0; k < y.size(); k++)
        for (std::size_t c = 0; c < y[k].size(); c++) {
          error[k] = std::max(error[k], std::abs(rounded[k][c] - y[k][c]));
          scale[k] = std::max(scale[k], std::abs(y[k][c]));
        }
      inputs.push_back(std::move(in)), exact.push_back(y);
    }
    // The host's own error in float shows the conditioning of the problem; double has 29 bits more.
    for (std::size_t k = 0; k < error.size(); k++) {
      single.push_back(4 * error[k] + 5e-6 * scale[k] + 1e-12);
      in_double.push_back(8 * error[k] * 0x1p-29 + 1e-13 * scale[k] + 1e-15);
    }
  }

  // The outputs on the device of instances first to first + n - 1: component c of the i-th at [c * stride(n) + i].
  static long stride(long n) { return (n + 31) / 16 * 16; }
  template <class Real>
  std::vector<std::vector<Real>> run(Evaluator& e, long first, long n) const {
    DeviceArrays<Real> arrays(n, stride(n));
    std::vector<ArrayRef> in, out;
    for (std::size_t k = 0; k < row.text.in.size(); k++)
      in.push_back(arrays.add(size_of(robot.model, row.text.in[k].shape), [&](long c, long i) {
        return i < n ? static_cast<Real>(inputs[first + i][k][c]) : Real(NAN);
      }));
    for (const OpArray& a : row.text.out)
      out.push_back(arrays.add(size_of(robot.model, a.shape), [&](long, long) { return arrays.nothing; }));
    e.run(row.text.name, in, out, options);
    std::vector<std::vector<Real>> found;
    for (std::size_t k = 0; k < out.size(); k++) found.push_back(arrays.numbers(in.size() + k));
    return found;
  }

  template <class Real>
  void check(Evaluator& e, long n) const {
    SCOPED_TRACE(robot.name + (sizeof(Real) == 4 ? " float " : " double ") + std::to_string(n) +
                 " instances, repeated " + std::to_string(options.repeat));
    const auto found = run<Real>(e, 0, n);
    EXPECT_EQ(found, run<Real>(e, 0, n)) << "a second launch gives the same bits";
    const auto alone = run<Real>(e, n - 1, 1);
    for (std::size_t k = 0; k < found.size(); k++) {
      const double tolerance = (sizeof(Real) == 4 ? single : in_double)[k];
      const long components = size_of(robot.model, row.text.out[k].shape);
      for (long c = 0; c < components; c++) {
        const Real* x = &found[k][static_cast<std::size_t>(c * stride(n))];
        for (long i = 0; i < n; i++) ASSERT_NEAR(x[i], exact[i][k][c], tolerance) << row.text.out[k].name << " " << c;
        for (long i = n; i < stride(n); i++) ASSERT_EQ(x[i], DeviceArrays<Real>::nothing) << "behind the last instance";
        ASSERT_EQ(x[n - 1], alone[k][static_cast<std::size_t>(c * stride(1))]) << "an instance alone";
      }
    }
  }
};

class EveryOperation : public ::testing::TestWithParam<int> {};

TEST_P(EveryOperation, IsTheReferenceInDouble) {
  const Row& row = rows()[static_cast<std::size_t>(GetParam())];
  ASSERT_FALSE(row.kinds.empty()) << "no robot runs it";
  for (const Kind* kind : row.kinds) {
    std::vector<long> counts{1, 3};
    if (!kind->large) counts = real_gpu ? std::vector<long>{1, 17, 259} : std::vector<long>{1, 67};
    Evaluator e(kind->robot);
    for (const int repeat : {1, 3}) {
      if (repeat > 1 && !row.text.carried) continue;
      const Reference r(row, kind->robot, counts.back(), repeat);
      for (const long n : counts) r.check<float>(e, n), r.check<double>(e, n);
    }
  }
}

std::vector<int> with_kernels() {
  std::vector<int> all;
  for (int op = 0; op < op_count; op++)
    if (info_of(op).cuda) all.push_back(op);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Table, EveryOperation, ::testing::ValuesIn(with_kernels()),
                         [](const auto& info) { return std::string(info_of(info.param).name); });

}  // namespace
}  // namespace featherstorm::test_every_operation
