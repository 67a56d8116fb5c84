// Inputs that may be left out: zeros stand for them, whether the operation has kernels of its own for that or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/trace/draw.h"

namespace featherstorm::test_optional_inputs {
namespace {

struct Batch {
  static constexpr long count = 5;
  std::vector<Buffer> buffers;
  std::vector<ArrayRef> refs;
};

// The row's inputs, and f_ext with the numbers given by `scale`.
Batch inputs(const Evaluator& e, const OpRow& row, double scale) {
  Batch batch;
  Draw draw(e.robot().model, 3);
  for (const OpRow::Argument& a : row.in) {
    const Buffer& b = batch.buffers.emplace_back(Precision::float64, Batch::count, a.components);
    for (long i = 0; i < Batch::count; i++) {
      const std::vector<double> x = draw(a.sample, a.components);
      for (int c = 0; c < a.components; c++) b.component<double>(c)[i] = x[c] * (a.name == "f_ext" ? scale : 1);
    }
    batch.refs.push_back(b.ref());
  }
  return batch;
}
std::vector<double> run(Evaluator& e, std::string_view op, const std::vector<ArrayRef>& in) {
  std::vector<Buffer> out;
  std::vector<ArrayRef> refs;
  for (const OpRow::Argument& a : e.op(op).out)
    refs.push_back(out.emplace_back(Precision::float64, Batch::count, a.components).ref());
  e.run(op, in, refs);
  std::vector<double> all;
  for (std::size_t k = 0; k < out.size(); k++)
    for (long c = 0; c < refs[k].components; c++)
      for (long i = 0; i < Batch::count; i++) all.push_back(out[k].component<double>(c)[i]);
  return all;
}

TEST(OptionalInputs, StandForZeros) {
  for (bool assemble : {true, false}) {
    Evaluator e(load("go2", {.floating_base = true}), {.threads = 1, .assemble = assemble});
    for (const std::string op : {"rnea_f_ext", "aba_f_ext", "fd_f_ext", "fd_derivatives", "floating_bias"}) {
      SCOPED_TRACE(op + (assemble ? " assembled" : ""));
      const std::string name = op.ends_with("_f_ext") ? op.substr(0, op.size() - 6) : op;
      Batch zero = inputs(e, e.op(op), 0), pushed = inputs(e, e.op(op), 1);
      const std::vector<double> with = run(e, name, zero.refs);
      EXPECT_EQ(run(e, name, pushed.refs), run(e, op, pushed.refs));
      EXPECT_NE(run(e, name, pushed.refs), with);
      zero.refs.pop_back();  // f_ext is the last of these
      const std::vector<double> without = run(e, name, zero.refs);
      ASSERT_EQ(without.size(), with.size());
      for (std::size_t k = 0; k < with.size(); k++) EXPECT_NEAR(without[k], with[k], 1e-9 * (1 + std::abs(with[k])));
    }
  }
}

TEST(OptionalInputs, OthersMayNotBeLeftOut) {
  Evaluator e(load("iiwa14"));
  Batch batch = inputs(e, e.op("fd_derivatives"), 1);
  batch.refs.resize(2);
  try {
    run(e, "fd_derivatives", batch.refs);
    FAIL();
  } catch (const Error& error) { EXPECT_STREQ(error.what(), "fd_derivatives: got 2 inputs, expected 4"); }
}

}  // namespace
}  // namespace featherstorm::test_optional_inputs
