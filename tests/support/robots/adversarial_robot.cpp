#include "tests/support/robots/adversarial_robot.h"

#include <cmath>

namespace featherstorm::testing {
namespace {

// Compilers choose the order in which they evaluate arguments and factors. Each random number therefore has its own
// statement, so that a seed gives the same robot everywhere.

double power(Random& random, double low, double high) { return std::pow(10, random.uniform(low, high)); }
double sign(Random& random) { return random.chance(0.5) ? 1 : -1; }

// Zero, or 1e-16 to 1e-2 of either sign.
double almost_nothing(Random& random) {
  if (random.chance(0.25)) return 0;
  const double s = sign(random);
  return s * power(random, -16, -2);
}

// A multiple of a right angle: almost, exactly, or with four decimals as people write it.
double adversarial_angle(Random& random) {
  const double angle = M_PI / 2 * (random.below(5) - 2);
  return (random.chance(0.2) ? std::round(angle * 1e4) / 1e4 : angle) + almost_nothing(random);
}

Vec3d coordinate_axis(Random& random) {
  const Vec3d axis = Vec3d::Unit(random.below(3));
  return axis * sign(random);
}
Vec3d direction(Random& random) { return random.rotation().col(0); }

// A direction that is almost a coordinate axis, or any direction.
Vec3d adversarial_axis(Random& random) {
  if (random.chance(0.15)) return direction(random);
  const Vec3d axis = coordinate_axis(random);
  const double angle = almost_nothing(random);
  return (axis + angle * direction(random)).normalized();
}

// The sizes of one robot, and the probability that a link has another size.
struct Scales { double mass, length, outliers; };

double length_of(Random& random, const Scales& s) {
  return random.chance(s.outliers) ? power(random, -9, 1) : std::min(s.length * power(random, -1, 0.3), 10.0);
}
Vec3d offset(Random& random, const Scales& s) {
  if (random.chance(0.15)) return Vec3d::Zero();
  const auto along = [&](const Vec3d& axis) { return Vec3d(axis * length_of(random, s)); };
  if (random.chance(0.3)) return along(direction(random));
  Vec3d r = along(coordinate_axis(random));
  if (random.chance(0.3)) r += along(coordinate_axis(random));
  if (random.chance(0.3)) {
    const Vec3d aside = direction(random) * r.norm();
    r += aside * std::abs(almost_nothing(random));
  }
  return r;
}

LinkSpec adversarial_link(Random& random, const std::string& name, const Scales& s) {
  LinkSpec link{
      name, random.chance(s.outliers) ? power(random, -9, 4) : std::clamp(s.mass * power(random, -1, 1), 1e-9, 1e4)};
  link.com = offset(random, s);
  const double size = length_of(random, s);
  // lengths along the principal axes, for bodies, plates, lines and points
  Vec3d extent;
  for (double& x : extent) x = size * random.uniform(0.2, 1);
  for (int k = random.below(8) - 4, axis = random.below(3); k > 0 && k < 4; k--) extent((axis + k) % 3) = 0;
  const Vec3d square = link.mass * extent.cwiseProduct(extent);
  const Mat3d R = random.chance(0.5) ? adversarial_rotation(random) : random.rotation();
  const Mat3d D = Vec3d(square.y() + square.z(), square.x() + square.z(), square.x() + square.y()).asDiagonal();
  link.inertia = R * D * R.transpose();
  link.inertia = (0.5 * (link.inertia + link.inertia.transpose())).eval();
  return link;
}

JointSpec adversarial_joint(Random& random, const std::string& name, const Scales& s, double others) {
  RandomOptions plain;
  plain.reversed = 0.1, plain.armature = 0;
  const int kinds = static_cast<int>(all_joint_types.size());
  const JointType type = random.chance(others) ? all_joint_types[random.below(kinds)]
                         : random.chance(0.2)  ? JointType::Prismatic
                                               : JointType::Revolute;
  JointSpec j = random_joint(random, name, type, plain);
  j.X = {random.chance(0.8) ? adversarial_rotation(random) : random.rotation(), offset(random, s)};
  j.axis = adversarial_axis(random);
  const int n = type == JointType::UserDefined ? j.user.nv : joint_size(type).nv;
  if (random.chance(0.25))
    for (int k = 0; k < n; k++) j.armature.push_back(s.mass * s.length * s.length * power(random, -6, 1));
  return j;
}

}  // namespace

Mat3d adversarial_rotation(Random& random) {
  const auto turn = [&](const Vec3d& axis, double angle) { return Mat3d(Eigen::AngleAxisd(angle, axis)); };
  switch (random.below(4)) {
    case 0: return random.aligned_rotation();
    case 1: {
      const Vec3d axis = coordinate_axis(random);
      return turn(axis, adversarial_angle(random));
    }
    case 2: {
      const Vec3d axis = direction(random);
      return turn(axis, adversarial_angle(random));
    }
    default: {  // yaw, pitch and roll as in model files
      const double yaw = adversarial_angle(random), pitch = adversarial_angle(random), roll = adversarial_angle(random);
      return turn(Vec3d::UnitZ(), yaw) * turn(Vec3d::UnitY(), pitch) * turn(Vec3d::UnitX(), roll);
    }
  }
}

RobotSpec adversarial_spec(unsigned seed, const AdversarialOptions& options) {
  Random random(seed + 0xadu);
  RobotSpec spec;
  spec.name = "adversarial_" + std::to_string(seed);
  const Scales scales{power(random, -6, 3), power(random, -3, 0.7), random.chance(0.3) ? 0.0 : random.uniform(0, 0.4)};
  // mostly small, because their kernels are made in milliseconds
  const int size = random.chance(0.02) ? 60 : random.chance(0.1) ? 20 : 4 + 2 * random.below(3);
  const int bodies = 1 + random.below(std::min(options.most_bodies, size));
  // a chain, a tree, a star; large robots have mostly joints with one coordinate
  const double branching = random.below(3) * 0.5, roots = random.chance(0.2) ? 0.4 : 0;
  const double others = random.chance(0.5) ? 0 : bodies > 20 ? 0.1 : 0.5;
  const bool floating = random.chance(0.4);
  if (random.chance(0.9)) spec.gravity = random.chance(0.5) ? Vec3d(0, 0, -9.81) : random.vector(10);
  else spec.gravity = Vec3d::Zero();
  for (int i = 0; i < bodies; i++) {
    const std::string name = "body" + std::to_string(i);
    spec.links.push_back(adversarial_link(random, name, scales));
    std::string parent;
    if (i > 0 && !random.chance(roots))
      parent = "body" + std::to_string(random.chance(branching) ? random.below(i) : i - 1);
    if (floating && parent.empty()) {
      spec.floating.push_back(name);
    } else {
      JointSpec j = adversarial_joint(random, "joint" + std::to_string(i), scales, others);
      j.parent = parent, j.child = name;
      spec.joints.push_back(j);
    }
    if (!random.chance(0.2)) continue;
    LinkSpec weld = adversarial_link(random, "weld" + std::to_string(i), scales);
    if (random.chance(0.3)) weld = LinkSpec{weld.name};
    JointSpec w;
    w.name = "fixed" + std::to_string(i), w.type = JointType::Fixed, w.parent = name, w.child = weld.name;
    w.X = {adversarial_rotation(random), offset(random, scales)};
    spec.links.push_back(weld), spec.joints.push_back(w);
  }
  if (random.chance(0.5)) random.shuffle(spec.joints), random.shuffle(spec.links);
  const Placement<double> tool{adversarial_rotation(random), offset(random, scales)};
  spec.frames.push_back({"tool", "body" + std::to_string(bodies - 1), tool});
  return spec;
}

State adversarial_state(const Model<double>& m, unsigned seed) {
  State s = random_state(m, seed);
  Random random(seed + 0xadu);
  for (int d = 0; d < m.nv; d++) {
    const Body<double>& b = m.body[m.dof_body[d]];
    if (m.dof_q[d] < 0 || b.type == JointType::BallYpr || b.type == JointType::UserDefined || !random.chance(0.2))
      continue;
    s.q[m.dof_q[d]] = adversarial_angle(random);
  }
  return s;
}

}  // namespace featherstorm::testing
