// Inputs that may be left out: zeros stand for them, whether the operation has kernels of its own for that or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/load/load.h"
#include "host/trace/draw.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_optional_inputs {
namespace {

using namespace testing;

// The row's inputs for five instances; f_ext is scaled.
std::vector<Batch> inputs(const Evaluator& e, const OpRow& row, double scale) {
  std::vector<Batch> in;
  Draw draw(e.robot().model, 3);
  for (const OpRow::Argument& a : row.in) {
    Batch& array = in.emplace_back();
    for (int i = 0; i < 5; i++) {
      array.push_back(draw(a.sample, a.components));
      for (double& x : array.back()) x *= a.name == "f_ext" ? scale : 1;
    }
  }
  return in;
}

TEST(OptionalInputs, StandForZeros) {
  for (bool assemble : {true, false}) {
    Evaluator e(load("go2", {.floating_base = true}), {.threads = 1, .assemble = assemble});
    for (const std::string op : {"rnea_f_ext", "aba_f_ext", "fd_f_ext", "fd_derivatives", "floating_bias"}) {
      SCOPED_TRACE(op + (assemble ? " assembled" : ""));
      const std::string name = op.ends_with("_f_ext") ? op.substr(0, op.size() - 6) : op;
      std::vector<Batch> zero = inputs(e, e.op(op), 0), pushed = inputs(e, e.op(op), 1);
      const auto with = run_batch(e, name, zero);
      EXPECT_EQ(run_batch(e, name, pushed), run_batch(e, op, pushed));
      EXPECT_NE(run_batch(e, name, pushed), with);
      zero.pop_back();  // f_ext is the last of these
      const auto without = run_batch(e, name, zero);
      ASSERT_EQ(without.size(), with.size());
      for (std::size_t k = 0; k < with.size(); k++)
        for (std::size_t i = 0; i < with[k].size(); i++)
          for (std::size_t c = 0; c < with[k][i].size(); c++)
            EXPECT_NEAR(without[k][i][c], with[k][i][c], 1e-9 * (1 + std::abs(with[k][i][c])));
    }
  }
}

TEST(OptionalInputs, OthersMayNotBeLeftOut) {
  Evaluator e(load("iiwa14"));
  std::vector<Batch> two = inputs(e, e.op("fd_derivatives"), 1);
  two.resize(2);
  EXPECT_EQ(message([&] { run_batch(e, "fd_derivatives", two); }), "fd_derivatives: got 2 inputs, expected 4");
}

}  // namespace
}  // namespace featherstorm::test_optional_inputs
