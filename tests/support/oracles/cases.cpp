#include "tests/support/oracles/cases.h"

namespace featherstorm::testing {

Case::Case(const RobotSpec& s, unsigned seed)
    : spec(s), robot(build(s)), oracle(s, robot), state(random_state(robot, seed)) {}
Case::~Case() = default;

void for_random_robots(const std::function<void(const Case&)>& f, unsigned count) {
  for (unsigned seed = 1; seed <= count; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 14);
    o.floating = seed % 3 == 0;
    f(Case(random_spec(seed, o), seed));
  }
  for (JointType type : all_joint_types)
    for (bool reversed : {false, true}) {
      RandomOptions o;
      o.bodies = 3, o.types = {type}, o.reversed = reversed, o.branching = 0, o.roots = 0;
      SCOPED_TRACE(name_of(type) + (reversed ? " reversed" : ""));
      f(Case(random_spec(100, o), 100));
    }
}

void for_robots_in_states(unsigned count, const std::function<void(const Model<double>&, const State&)>& f) {
  for (unsigned seed = 1; seed <= count; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.floating = seed % 2;
    const Robot robot = random_robot(seed, o);
    f(robot.model, random_state(robot, seed));
  }
}

double force_scale(const Case& c, const std::vector<double>& a) {
  const dense::MatrixX H = c.oracle.crba(c.state.q);
  const std::vector<double> zero(c.model().nv, 0.0);
  const dense::VectorX bias = c.oracle.rnea(c.state.q, c.state.v, zero, c.state.f_ext);
  return 1 + H.cwiseAbs().maxCoeff() * largest(a) + bias.cwiseAbs().maxCoeff();
}

double force_error(const Case& c, const std::vector<double>& got, const std::vector<double>& expected) {
  dense::VectorX d(c.model().nv);
  for (int k = 0; k < c.model().nv; k++) d(k) = got[k] - expected[k];
  const double e = (c.oracle.crba(c.state.q) * d).cwiseAbs().maxCoeff() / force_scale(c, expected);
  return e >= 0 ? e : std::numeric_limits<double>::infinity();  // NaN
}

double condition(const dense::MatrixX& H) {
  const dense::VectorX e = Eigen::SelfAdjointEigenSolver<dense::MatrixX>(H, Eigen::EigenvaluesOnly).eigenvalues();
  return e(e.size() - 1) / e(0);
}

template std::vector<double> call_rnea(const Model<double>&, const std::vector<double>&, const std::vector<double>&,
                                       const std::vector<double>&, const std::vector<double>&);
template std::vector<double> call_newton_euler(const Model<double>&, const std::vector<double>&,
                                               const std::vector<double>&, const std::vector<double>&,
                                               const std::vector<double>&);
template std::vector<double> call_articulated_bodies(const Model<double>&, const std::vector<double>&,
                                                     const std::vector<double>&, const std::vector<double>&,
                                                     const std::vector<double>&);
template std::vector<double> call_crba(const Model<double>&, const std::vector<double>&);

}  // namespace featherstorm::testing
