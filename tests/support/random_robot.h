// Random robots over all joint types and random states of them, the same for the same seed on every machine.
//
//   const RobotSpec spec = random_spec(seed, options);   // links and joints in the user's frames, for the dense oracle
//   const Robot robot = build(spec);                     // or random_robot(seed, options)
//   const State s = random_state(robot, seed);
//
// Tests print the seed: SCOPED_TRACE("seed " + std::to_string(seed)).
#pragma once
#include <Eigen/Geometry>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/builder.h"
#include "core/joint/joint.h"
#include "tests/support/user_joints.h"

namespace featherstorm::testing {

// splitmix64; the standard's distributions differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  double uniform(double low, double high) { return low + (high - low) * ((bits() >> 11) * 0x1p-53); }
  int below(int n) { return static_cast<int>(bits() >> 33) % n; }
  bool chance(double p) { return uniform(0, 1) < p; }
  Vec3d vector(double scale = 1) { return {uniform(-scale, scale), uniform(-scale, scale), uniform(-scale, scale)}; }
  Eigen::Quaterniond quaternion() {
    for (;;) {
      const double w = uniform(-1, 1), x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1);
      const double n = w * w + x * x + y * y + z * z;
      if (n > 0.05 && n < 1) return Eigen::Quaterniond(w, x, y, z).normalized();
    }
  }
  Mat3d rotation() { return quaternion().toRotationMatrix(); }
  // one of the 24 rotations that permute the coordinate axes
  Mat3d aligned_rotation() {
    Mat3d R = Mat3d::Zero();
    const int i = below(3), j = (i + 1 + below(2)) % 3;
    R(i, 0) = chance(0.5) ? 1 : -1, R(j, 1) = chance(0.5) ? 1 : -1;
    R.col(2) = R.col(0).cross(R.col(1));
    return R;
  }
  template <class Element> void shuffle(std::vector<Element>& a) {
    for (int i = static_cast<int>(a.size()) - 1; i > 0; i--) std::swap(a[i], a[below(i + 1)]);
  }

 private:
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

inline const std::vector<JointType> all_joint_types = {
    JointType::Revolute, JointType::Prismatic, JointType::Helical,   JointType::Cylindrical,
    JointType::Planar,   JointType::Ball,      JointType::BallYpr,   JointType::BallExp,
    JointType::Universal, JointType::RackPinion, JointType::Free,    JointType::UserDefined};

inline std::string name_of(JointType type) {
  switch (type) {
    case JointType::Fixed: return "Fixed";
    case JointType::Revolute: return "Revolute";
    case JointType::Prismatic: return "Prismatic";
    case JointType::Helical: return "Helical";
    case JointType::Cylindrical: return "Cylindrical";
    case JointType::Planar: return "Planar";
    case JointType::Ball: return "Ball";
    case JointType::BallYpr: return "BallYpr";
    case JointType::BallExp: return "BallExp";
    case JointType::Universal: return "Universal";
    case JointType::RackPinion: return "RackPinion";
    case JointType::Free: return "Free";
    case JointType::UserDefined: return "UserDefined";
  }
  return "?";
}

struct RandomOptions {
  int bodies = 8;                                // moving bodies
  std::vector<JointType> types = all_joint_types;
  double reversed = 0.3;                         // probability that a joint runs from child to parent
  double branching = 0.5;                        // probability that a body hangs on any earlier one, not on the last
  double roots = 0.1;                            // probability that a body hangs on the world
  double aligned = 0.4;                          // probability that a placement or an axis is along coordinate axes
  double armature = 0.3;                         // probability that a joint has a rotor (never a free joint)
  double fixed = 0.3;                            // probability of another link welded to a body
  bool floating = false;                         // the first body floats
  bool shuffled = true;                          // joints are added in random order
};

// What a builder is given, kept for oracles that must not look at the model.
struct RobotSpec {
  std::string name = "robot";
  std::vector<LinkSpec> links;
  std::vector<JointSpec> joints;
  std::vector<FrameSpec> frames;
  std::vector<std::string> floating;
  Vec3d gravity{0, 0, -9.81};
};

inline ModelBuilder builder(const RobotSpec& spec) {
  ModelBuilder b(spec.name);
  for (const LinkSpec& l : spec.links) b.add_link(l);
  for (const JointSpec& j : spec.joints) b.add_joint(j);
  for (const FrameSpec& f : spec.frames) b.add_frame(f);
  for (const std::string& l : spec.floating) b.float_root(l);
  b.set_gravity(spec.gravity);
  return b;
}
inline Robot build(const RobotSpec& spec) { return builder(spec).build(); }

// A physically valid body: principal second moments are positive.
inline LinkSpec random_link(Random& random, const std::string& name) {
  const double a = random.uniform(0.02, 0.2), b = random.uniform(0.02, 0.2), c = random.uniform(0.02, 0.2);
  LinkSpec link{name, random.uniform(0.5, 3)};
  link.com = random.vector(0.3);
  const Mat3d R = random.rotation(), D = Vec3d(b + c, a + c, a + b).asDiagonal();
  link.inertia = R * D * R.transpose();
  link.inertia = (0.5 * (link.inertia + link.inertia.transpose())).eval();
  return link;
}
inline Placement<double> random_placement(Random& random, double aligned) {
  return {random.chance(aligned) ? random.aligned_rotation() : random.rotation(),
          random.chance(0.1) ? Vec3d(Vec3d::Zero()) : random.vector(0.5)};
}
inline JointSpec random_joint(Random& random, const std::string& name, JointType type, const RandomOptions& options) {
  JointSpec j;
  j.name = name;
  j.type = type;
  j.X = random_placement(random, options.aligned);
  j.axis = random.chance(options.aligned) ? Vec3d(random.aligned_rotation().col(0)) : Vec3d(random.rotation().col(0));
  j.reversed = random.chance(options.reversed);
  if (type == JointType::Helical || type == JointType::RackPinion) j.parameter = random.uniform(-0.4, 0.4);
  int n = joint_size(type).nv;
  if (type == JointType::UserDefined) {
    const bool rack = random.chance(0.5);
    j.user = rack ? user_rack_pinion : user_crane;
    j.parameter = random.uniform(-0.4, 0.4);
    n = j.user.nv;
  }
  if (type != JointType::Free && random.chance(options.armature))
    for (int k = 0; k < n; k++) j.armature.push_back(random.uniform(0, 0.5));
  return j;
}

inline RobotSpec random_spec(unsigned seed, const RandomOptions& options = {}) {
  Random random(seed);
  RobotSpec spec;
  spec.name = "random_" + std::to_string(seed);
  spec.gravity = random.vector(10);
  for (int i = 0; i < options.bodies; i++) {
    const std::string name = "body" + std::to_string(i);
    spec.links.push_back(random_link(random, name));
    if (i == 0 && options.floating) {
      spec.floating.push_back(name);
    } else {
      JointSpec j = random_joint(random, "joint" + std::to_string(i),
                                 options.types[random.below(static_cast<int>(options.types.size()))], options);
      j.child = name;
      if (i > 0 && !random.chance(options.roots))
        j.parent = "body" + std::to_string(random.chance(options.branching) ? random.below(i) : i - 1);
      spec.joints.push_back(j);
    }
    if (!random.chance(options.fixed)) continue;
    // a welded link that later bodies may not see but the body's inertia does; some are frames only
    LinkSpec weld = random_link(random, "weld" + std::to_string(i));
    if (random.chance(0.3)) weld = LinkSpec{weld.name};
    JointSpec w;
    w.name = "fixed" + std::to_string(i);
    w.type = JointType::Fixed;
    w.parent = name, w.child = weld.name;
    w.X = random_placement(random, options.aligned);
    // half of the welded links stand between the body and what hangs on it
    spec.links.push_back(weld);
    spec.joints.push_back(w);
    if (random.chance(0.5) && i + 1 < options.bodies) {
      LinkSpec next = random_link(random, "body" + std::to_string(++i));
      JointSpec j = random_joint(random, "joint" + std::to_string(i),
                                 options.types[random.below(static_cast<int>(options.types.size()))], options);
      j.parent = weld.name, j.child = next.name;
      spec.links.push_back(next);
      spec.joints.push_back(j);
    }
  }
  if (options.shuffled) random.shuffle(spec.joints), random.shuffle(spec.links);
  spec.frames.push_back({"tool", "body" + std::to_string(options.bodies - 1), random_placement(random, 0)});
  return spec;
}
inline Robot random_robot(unsigned seed, const RandomOptions& options = {}) { return build(random_spec(seed, options)); }

// Everything an algorithm takes, in the order of the model.
struct State {
  std::vector<double> q, v, a, tau, f_ext;  // (nq), (nv), (nv), (nv), (6 nb)
};

inline void store_unit_quaternion(Random& random, double* q) {
  const Eigen::Quaterniond p = random.quaternion();
  q[0] = p.w(), q[1] = p.x(), q[2] = p.y(), q[3] = p.z();
}

// Quaternions are unit, the pitch of yaw-pitch-roll joints stays within 1.2 rad, f_ext has random forces on all bodies.
inline State random_state(const Model<double>& m, unsigned seed) {
  Random random(seed + 0x5eedu);
  State s;
  auto fill = [&](std::vector<double>& a, int n, double scale) {
    for (int i = 0; i < n; i++) a.push_back(random.uniform(-scale, scale));
  };
  fill(s.q, m.nq, 1.7), fill(s.v, m.nv, 2), fill(s.a, m.nv, 3), fill(s.tau, m.nv, 10), fill(s.f_ext, 6 * m.nb, 10);
  for (int i = 1; i <= m.nb; i++) {
    double* q = s.q.data() + m.body[i].q;
    if (m.body[i].type == JointType::Ball) store_unit_quaternion(random, q);
    if (m.body[i].type == JointType::Free) store_unit_quaternion(random, q + 3);
    if (m.body[i].type == JointType::BallYpr) q[1] *= 1.2 / 1.7;
  }
  return s;
}
inline State random_state(const Robot& robot, unsigned seed) { return random_state(robot.model, seed); }

}  // namespace featherstorm::testing
