// What the table of operations says of its rows.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/table/ops.h"
#include "host/trace/trace_op.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_table {
namespace {

using testing::RandomOptions, testing::random_robot;

TEST(Table, EveryRowTellsItsEquationSourceAndArrays) {
  std::set<std::string_view> names;
  for (const OpInfo& row : op_infos) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_FALSE(row.summary.empty() || row.summary.ends_with('.'));
    EXPECT_FALSE(row.equation.empty());
    EXPECT_FALSE(row.source.empty());
    EXPECT_GT(row.in.size(), 0u);
    EXPECT_GT(row.out.size(), 0u);
    std::set<std::string_view> inputs, outputs;
    for (const OpArrays* arrays : {&row.in, &row.uniform, &row.out})
      for (const OpArray& a : *arrays) {
        EXPECT_FALSE(a.meaning.empty()) << a.name;
        EXPECT_GT(a.shape.rank, 0) << a.name;
        EXPECT_TRUE((arrays == &row.out ? outputs : inputs).insert(a.name).second) << a.name << " twice";
      }
    if (row.carried) {
      ASSERT_LE(row.out.size(), row.in.size());
      for (std::size_t k = 0; k < row.out.size(); k++) EXPECT_EQ(row.out[k].shape, row.in[k].shape) << row.out[k].name;
    }
    if (!row.inverse.empty()) EXPECT_GE(op_named(row.inverse), 0);
  }
}

TEST(Table, OptionalInputsMakeASecondFormOfCommonRows) {
  int forms = 0;
  for (const OpInfo& row : op_infos) {
    if (row.form_of.empty()) continue;
    const OpInfo& without = info_of(op_named(row.form_of));
    forms++;
    EXPECT_EQ(row.name, std::string(row.form_of) + "_f_ext");
    std::size_t optional = 0;
    for (const OpArray& a : row.in) optional += a.optional();
    EXPECT_EQ(row.in.size(), without.in.size() + optional);
    EXPECT_FALSE(has_optional(without));
    EXPECT_TRUE(row.common || row.needs == Needs::world);
  }
  EXPECT_EQ(forms, 6);  // rnea, aba, fd; of worlds smooth_acceleration, smooth_step, sensors
}

// Operations of the first variant for a chain of n joints in space.
double operations(int op, int n) {
  const RandomOptions chain{.bodies = n,
                            .types = {JointType::Revolute},
                            .reversed = 0,
                            .branching = 0,
                            .roots = 0,
                            .aligned = 0,
                            .armature = 0,
                            .fixed = 0};
  const Model<double> m = random_robot(1, chain).model;
  const Program p = trace_op(op, m, m.nf - 1, 0);
  const Counts c = count(p, trace_order(p));
  return c.flops() + c.rcp + c.sqrt + c.sincos + c.other;
}

TEST(Table, WorkGrowsWithTheChainNoFasterThanTheRowSays) {
  for (int op = 0; op < op_count; op++) {
    const OpInfo& row = info_of(op);
    if (row.needs != Needs::nothing) continue;
    SCOPED_TRACE(std::string(row.name));
    const double growth = std::log2(operations(op, 12) / operations(op, 6)), said = 1 + static_cast<int>(row.cost);
    EXPECT_LT(growth, said + 0.4);
  }
}

}  // namespace
}  // namespace featherstorm::test_table
