// Operations of traced programs on the robots whose counts an early prototype of the tracing compiler left behind: an
// arm, a quadruped and a humanoid with joints along coordinate axes and general inertias. A multiply-add counts once.
#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/form/regroup.h"
#include "core/form/slide.h"
#include "core/model/joint_axes.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/traced_counts.h"

namespace featherstorm::test_operation_counts_prototype {
namespace {

using namespace testing;

constexpr Zeros<Expr> none;

// A tree made link by link; add returns the new link's name.
struct Tree {
  Random random{7};
  RobotSpec spec;

  std::string link() {
    const std::string name = "l" + std::to_string(spec.links.size());
    spec.links.push_back(random_link(random, name));
    return name;
  }
  std::string base() {
    spec.floating.push_back(link());
    return spec.floating[0];
  }
  std::string add(const std::string& parent, int axis, const Vec3d& r, const Mat3d& R = Mat3d::Identity()) {
    JointSpec j;
    j.child = link(), j.name = "j" + j.child, j.parent = parent;
    j.axis = Vec3d::Unit(axis), j.X = {R, r};
    spec.joints.push_back(j);
    return j.child;
  }
  std::string add(std::string parent, const std::vector<std::pair<int, Vec3d>>& limb) {
    for (const auto& [axis, r] : limb) parent = add(parent, axis, r);
    return parent;
  }
};
RobotSpec arm() {
  const Mat3d I = Mat3d::Identity(), A{{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}, B{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
  const std::pair<Mat3d, Vec3d> places[] = {{I, {0, 0, 0.16}}, {A, {0, 0, 0.20}}, {A, {0, 0.21, 0}}, {B, {0, 0, 0.22}},
                                            {A, {0, 0.18, 0}}, {B, {0, 0, 0.23}}, {A, {0, 0.08, 0}}};
  Tree t;
  std::string parent;
  for (const auto& [R, r] : places) parent = t.add(parent, 2, r, R);
  return t.spec;
}
RobotSpec quadruped() {
  Tree t;
  const std::string base = t.base();
  for (int x : {1, -1})
    for (int y : {1, -1}) t.add(base, {{0, {x * 0.19, y * 0.05, 0}}, {1, {0, y * 0.08, 0}}, {1, {0, 0, -0.21}}});
  return t.spec;
}
RobotSpec humanoid() {
  Tree t;
  const std::string base = t.base(), torso = t.add(base, {{2, {0, 0, 0.1}}, {1, {0, 0, 0.06}}});
  t.add(torso, {{2, {0.01, 0, 0.42}}, {1, {0, 0, 0.07}}});
  for (int s : {1, -1})
    t.add(torso, {{1, {0, s * 0.17, 0.35}},
                  {0, {0, s * 0.05, 0}},
                  {2, {0, 0, -0.1}},
                  {1, {0.02, 0, -0.16}},
                  {2, {-0.02, 0, -0.1}},
                  {1, {0, 0, -0.14}},
                  {0, {0, 0, -0.04}}});
  for (int s : {1, -1})
    t.add(base, {{2, {0, s * 0.1, -0.05}},
                 {0, {0, s * 0.02, -0.05}},
                 {1, {0.02, 0, -0.04}},
                 {1, {0, 0, -0.38}},
                 {1, {0, 0, -0.38}},
                 {0, {0, 0, -0.02}}});
  return t.spec;
}

template <class F>
int instructions(std::initializer_list<int> sizes, int outputs, F f) {
  return traced(sizes, outputs, f).instructions();
}

// What is above the prototype's: on a floating base the base's rows of H. The linear velocity of our base is along the world's
// axes, so that each column of H is turned once more, by 9 multiply-adds; the prototype's was along the base's. Where both axes
// are the same, at the orientation 1, ours takes less.
TEST(OperationCountsPrototype, OnItsRobots) {
  struct Row {
    const char* name;
    RobotSpec spec;
    int rnea, crba, aba, fd;                 // the prototype's
    double of_rnea, of_crba, of_aba, of_fd;  // ours over them, at most
  };
  const Row rows[] = {{"arm", arm(), 406, 237, 969, 764, 0.88, 0.78, 0.70, 0.86},
                      {"quadruped", quadruped(), 976, 480, 2330, 2130, 0.95, 1.17, 0.82, 0.90},
                      {"humanoid", humanoid(), 2402, 2094, 6187, 5782, 0.94, 1.02, 0.82, 0.88}};
  for (const Row& row : rows) {
    const Model<double> m = regrouped(slid(turned(build(row.spec).model)));
    const int n = m.nv, nq = m.nq;
    const int id = instructions({nq, n, n}, n, [&](auto& x, Expr* y) { newton_euler(m, x[0], x[1], x[2], none, y); });
    const int h = instructions({nq}, m.nh, [&](auto& x, Expr* y) { crba(m, x[0], y); });
    const int in_base = instructions({nq}, m.nh, [&](auto& x, Expr* y) {
      if (!row.spec.floating.empty())
        for (int k = 3; k < 7; k++) x[0][k] = Expr(k == 3 ? 1.0 : 0.0);
      crba(m, x[0], y);
    });
    const int ab =
        instructions({nq, n, n}, n, [&](auto& x, Expr* y) { articulated_bodies(m, x[0], x[1], x[2], none, y); });
    const int fd1 = instructions({nq, n, n}, n, [&](auto& x, Expr* y) { fd_crba(m, x[0], x[1], x[2], none, y); });
    const int fd = std::min(fd1, ab);
    std::printf("%-9s rnea %4d (%4d)  crba %4d, %4d in the base (%4d)  aba %4d (%4d)  fd %4d (%4d)\n", row.name, id,
                row.rnea, h, in_base, row.crba, ab, row.aba, fd, row.fd);
    EXPECT_LE(id, row.rnea * row.of_rnea);
    EXPECT_LE(h, row.crba * row.of_crba);
    EXPECT_LE(in_base, row.crba * 0.95);
    EXPECT_LE(ab, row.aba * row.of_aba);
    EXPECT_LE(fd, row.fd * row.of_fd);
  }
}

}  // namespace
}  // namespace featherstorm::test_operation_counts_prototype
