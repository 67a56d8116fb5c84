// Some outputs of a program: the same numbers, from the inputs that they need alone.
#include <gtest/gtest.h>

#include "core/program/part.h"
#include "core/trace/evaluate.h"

namespace featherstorm::test_part {
namespace {

// a (2), b (1) uniform, c (3):  near = a_1 sin(b), -a_0;  far = c_2 / near_0;  fixed = 2, 0
Program whole() {
  Program p;
  const auto a = p.input("a", 2), b = p.input("b", 1, true), c = p.input("c", 3);
  Tracing scope(p.graph);
  const Expr near = a[1] * sin(b[0]);
  p.output("near", {near, -a[0]});
  p.output("far", {select(c[0] < c[1], c[2] / near, near)});
  p.output("fixed", {Expr(2.0), Expr(0.0)});
  return p;
}
std::vector<std::string> names(const std::vector<Program::Array>& arrays) {
  std::vector<std::string> all;
  for (const auto& a : arrays) all.push_back(a.name);
  return all;
}
using Names = std::vector<std::string>;

TEST(PartOf, HasTheInputsThatItNeeds) {
  const Program p = whole();
  const Program near = part_of(p, [](const std::string& name) { return name == "near"; });
  EXPECT_EQ(names(near.inputs), (Names{"a", "b"}));
  EXPECT_TRUE(near.inputs[1].uniform);
  EXPECT_EQ(near.inputs[0].size, 2) << "whole arrays, as kernels read them";
  EXPECT_EQ(names(near.outputs), Names{"near"});
  const Program fixed = part_of(p, [](const std::string& name) { return name == "fixed"; });
  EXPECT_TRUE(fixed.inputs.empty());
  EXPECT_EQ(names(part_of(p, [](const std::string&) { return true; }).outputs), (Names{"near", "far", "fixed"}));
  EXPECT_TRUE(part_of(p, [](const std::string&) { return false; }).outputs.empty());
}

TEST(PartOf, ComputesTheSame) {
  const Program p = whole();
  const Arrays<double> in = {{3, -5}, {0.7}, {1, 2, 11}};
  const Arrays<double> all = evaluate<double>(p, in);
  const Program far = part_of(p, [](const std::string& name) { return name != "near"; });
  ASSERT_EQ(names(far.inputs), (Names{"a", "b", "c"}));
  const Arrays<double> some = evaluate<double>(far, in);
  EXPECT_EQ(some[0], all[1]);
  EXPECT_EQ(some[1], all[2]);
  const Program near = part_of(p, [](const std::string& name) { return name == "near"; });
  EXPECT_EQ(evaluate<double>(near, {in[0], in[1]})[0], all[0]);
  EXPECT_LT(near.graph.size(), p.graph.size());
}

}  // namespace
}  // namespace featherstorm::test_part
