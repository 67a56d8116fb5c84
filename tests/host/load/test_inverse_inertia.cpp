// Inverse inertias by articulated bodies beside the inverse of the joint-space inertia matrix, and the time of long chains.
#include "host/load/inverse_inertia.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <random>

#include "core/dynamics/crba.h"
#include "core/kinematics/wrench_rows.h"
#include "core/linear/ltdl.h"
#include "host/load/joint_inertia.h"
#include "host/load/load.h"
#include "host/load/load_urdf.h"
#include "host/load/sample_q.h"
#include "host/robots/robots.h"

namespace featherstorm::test_inverse_inertia {
namespace {

constexpr double close = 1e-9;  // relative; the condition of M of the robots is at most 1e6

std::vector<std::string> robots() {
  std::vector<std::string> names;
  for (const auto& r : builtin_robots()) names.emplace_back(r.name);
  return names;
}

Eigen::MatrixXd inverse_of(const Robot& robot) {
  const Model<double>& m = robot.model;
  std::vector<double> H(static_cast<std::size_t>(m.nh));
  crba(m, robot.q0.data(), H.data());
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(m.nv, m.nv);
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[static_cast<std::size_t>(j)])
      M(i, j) = M(j, i) = H[static_cast<std::size_t>(m.at(i, j))];
  return M.inverse();
}

class InverseInertiaOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Robots, InverseInertiaOf, ::testing::ValuesIn(robots()),
                         [](const auto& p) { return p.param; });

TEST_P(InverseInertiaOf, AgreesWithTheInverseOfTheMatrix) {
  const Robot robot = load(GetParam());
  const Model<double>& m = robot.model;
  const Eigen::MatrixXd inverse = inverse_of(robot);
  const InverseInertia weight(robot);
  for (int i = 0; i < m.nv; i++) {
    EXPECT_NEAR(weight.of_coordinates(i, 1), inverse(i, i), close * inverse(i, i)) << i;
    const double length = inverse.col(i).norm();
    EXPECT_NEAR(weight.acceleration(i), length, close * length) << robot.v_names[static_cast<std::size_t>(i)];
  }
  std::vector<double> x(static_cast<std::size_t>(m.nx));
  std::vector<Placement<double>> X(static_cast<std::size_t>(m.nb) + 1);
  update_joints(m, robot.q0.data(), Zeros<double>{}, x);
  body_placements(m, x.data(), X);
  for (int b = 1; b <= m.nb; b++) {
    const Vec3d point(0.1, -0.2, 0.3);
    const auto& P = X[static_cast<std::size_t>(b)];
    const Vec3d p = P.r + P.R * point;
    double translation = 0, rotation = 0;
    for (int k = 0; k < 3; k++) {
      Eigen::VectorXd row = Eigen::VectorXd::Zero(m.nv), turn = row;
      add_wrench(m, x.data(), X, b, p, Vec3d(Vec3d::Zero()), Vec3d(Vec3d::Unit(k)), row.data());
      add_wrench(m, x.data(), X, b, p, Vec3d(Vec3d::Unit(k)), Vec3d(Vec3d::Zero()), turn.data());
      translation += row.dot(inverse * row) / 3, rotation += turn.dot(inverse * turn) / 3;
    }
    const InverseInertia::OfBody found = weight.of_body(b, point);
    EXPECT_NEAR(found.translation, translation, close * translation) << b;
    EXPECT_NEAR(found.rotation, rotation, close * rotation) << b;
  }
}

TEST_P(InverseInertiaOf, PivotsAreThoseOfTheFactorisation) {
  const Robot robot = load(GetParam());
  const Model<double>& m = robot.model;
  std::mt19937_64 engine(3);
  const std::vector<double> q = sample_q(m, engine);
  std::vector<double> L(static_cast<std::size_t>(m.nh));
  crba(m, q.data(), L.data());
  ltdl(m, L.data());
  const std::vector<Pivot> found = pivots(m, q);
  for (int i = 0; i < m.nv; i++) {
    const double pivot = 1 / L[static_cast<std::size_t>(m.at(i, i))];
    EXPECT_NEAR(found[static_cast<std::size_t>(i)].value, pivot, close * pivot) << i;
    EXPECT_FALSE(found[static_cast<std::size_t>(i)].is_zero) << i;
  }
}

std::string chain(int links) {
  std::string text = "<robot name='chain'>";
  for (int i = 0; i < links; i++)
    text += "<link name='l" + std::to_string(i) +
            "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>";
  for (int i = 1; i < links; i++)
    text += "<joint name='j" + std::to_string(i) + "' type='continuous'><parent link='l" + std::to_string(i - 1) +
            "'/><child link='l" + std::to_string(i) + "'/><origin xyz='0.1 0 0'/><axis xyz='0 1 0'/></joint>";
  return text + "</robot>";
}

// A factorisation of the joint-space inertia matrix takes 125 times the time for 5 times the links.
TEST(LongChains, AreLoadedInTimeThatGrowsWithTheirLinks) {
  const auto seconds = [](int links) {
    double least = 1e9;
    for (int k = 0; k < 3; k++) {
      const auto begin = std::chrono::steady_clock::now();
      const UrdfWorld world{.motors = true};
      const Robot robot = load_urdf_text(chain(links), "chain.urdf", {.world = world});
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
  };
  const double few = seconds(400), many = seconds(2000);
  EXPECT_LT(many, 25 * few) << few << " s, " << many << " s";
}

}  // namespace
}  // namespace featherstorm::test_inverse_inertia
