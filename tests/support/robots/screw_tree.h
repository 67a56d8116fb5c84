// Random trees of revolute joints with general parameters, placed by axial screws: RBDA's benchmark GU(n) and its
// branched relatives (section 10.3).
//
// A joint's placement is scrx(alpha, a) scrz(q, d) between Denavit-Hartenberg frames; in general scrz(phi, b) precedes
// it. One child of each body has the former placement: the child with the largest subtree (the first of several).
#pragma once
#include <vector>

#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

struct ScrewJoint {
  int parent = 0;        // parent of body i + 1
  bool general = false;  // otherwise phi = b = 0
  double phi = 0, b = 0, alpha = 0, a = 0, d = 0;
  int subtree = 1;    // |nu(i)|, number of bodies from this one on
  int ancestors = 1;  // |kappa(i)|, number of bodies up to this one
  LinkSpec link;
};
struct ScrewTree {
  std::vector<ScrewJoint> joint;
  Robot robot;
};

// parents[i] <= i is the parent of body i + 1; 0 is the world.
inline ScrewTree screw_tree(const std::vector<int>& parents, unsigned seed = 1) {
  Random random(seed);
  ScrewTree t;
  const int n = static_cast<int>(parents.size());
  t.joint.resize(n);
  for (int i = n - 1; i >= 0; i--) {
    t.joint[i].parent = parents[i];
    if (parents[i] > 0) t.joint[parents[i] - 1].subtree += t.joint[i].subtree;
  }
  ModelBuilder builder("tree");
  for (int i = 0; i < n; i++) {
    ScrewJoint& j = t.joint[i];
    if (j.parent > 0) {
      j.ancestors = t.joint[j.parent - 1].ancestors + 1;
      for (int k = 0; k < n; k++)
        if (k != i && parents[k] == j.parent &&
            (t.joint[k].subtree > j.subtree || (t.joint[k].subtree == j.subtree && k < i)))
          j.general = true;
    }
    j.alpha = random.uniform(0.3, 2.8), j.a = random.uniform(0.1, 0.5), j.d = random.uniform(0.1, 0.5);
    if (j.general) j.phi = random.uniform(0.3, 2.8), j.b = random.uniform(0.1, 0.5);
    const std::string name = "l" + std::to_string(i + 1);
    j.link = random_link(random, name);
    builder.add_link(j.link);
    JointSpec s;
    s.name = "j" + std::to_string(i + 1), s.child = name;
    if (j.parent > 0) s.parent = "l" + std::to_string(j.parent);
    const Mat3d Rz = matrix(rotation_z(j.phi)), Rx = matrix(RotationX<double>{std::cos(j.alpha), std::sin(j.alpha)});
    s.X = {Rz * Rx, Rz * Vec3d(j.a, 0, j.b) + Rz * Rx * Vec3d(0, 0, j.d)};
    builder.add_joint(s);
  }
  builder.set_gravity({0.7, -1.1, -9.7});
  t.robot = builder.build();
  return t;
}
inline std::vector<int> chain_parents(int n) {
  std::vector<int> p(n);
  for (int i = 0; i < n; i++) p[i] = i;
  return p;
}

}  // namespace featherstorm::testing
