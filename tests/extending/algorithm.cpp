// What algorithm.patch adds: a row of the table, on doubles, floats and traced numbers.
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/model/builder.h"
#include "core/trace/evaluate.h"
#include "host/table/ops.h"

using namespace featherstorm;

int main() {
  ModelBuilder b("two links");
  b.add_link({"upper", 2, {0, 0, -0.5}, Vec3d(0.2, 0.2, 0.01).asDiagonal()});
  b.add_link({"lower", 1, {0, 0, -0.25}, Vec3d(0.02, 0.02, 0.001).asDiagonal()});
  JointSpec shoulder, elbow;
  shoulder.name = "shoulder", shoulder.child = "upper", shoulder.type = JointType::Revolute, shoulder.axis = {0, 1, 0};
  elbow = shoulder;
  elbow.name = "elbow", elbow.parent = "upper", elbow.child = "lower", elbow.X.r = {0, 0, -1};
  b.add_joint(shoulder), b.add_joint(elbow);
  const Robot robot = b.build();
  const Model<double>& m = robot.model;

  const std::vector<double> q = {0.3, -1.1}, v = {0.7, 0.4};
  double found[2], total[2];
  using Row = table::OpBodyEnergies;
  Row::run(m, q.data(), v.data(), found);
  table::OpEnergy::run(m, q.data(), v.data(), total);

  const std::vector<float> qf(q.begin(), q.end()), vf(v.begin(), v.end());
  float single[2];
  Row::run(cast<float>(m), qf.data(), vf.data(), single);

  Program p;
  const auto qt = p.input("q", 2), vt = p.input("v", 2);
  {
    Tracing scope(p.graph);
    std::vector<Expr> y(2);
    Row::run(m, qt.data(), vt.data(), y.data());
    p.output("energies", y);
  }
  const auto traced = evaluate(p, std::vector<std::vector<double>>{q, v});

  double error = std::abs(found[0] + found[1] - total[0]);
  for (int i = 0; i < 2; i++)
    error = std::max({error, 1e-8 * std::abs(single[i] - found[i]), std::abs(traced[0][i] - found[i])});
  std::printf("algorithm: row %s of %d, %zu outputs, error %.1e\n", Row::info.name.data(), op_count,
              static_cast<std::size_t>(size_of(m, Row::info.out[0].shape)), error);
  return error < 1e-14 && found[0] > 0.05 && op_named("body_energies") >= 0 ? 0 : 1;
}
