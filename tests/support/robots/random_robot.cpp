#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

double Random::uniform(double low, double high) { return low + (high - low) * ((bits() >> 11) * 0x1p-53); }

int Random::below(int n) { return static_cast<int>(bits() >> 33) % n; }

bool Random::chance(double p) { return uniform(0, 1) < p; }

Vec3d Random::vector(double scale) { return {uniform(-scale, scale), uniform(-scale, scale), uniform(-scale, scale)}; }

Eigen::Quaterniond Random::quaternion() {
  for (;;) {
    const double w = uniform(-1, 1), x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1);
    const double n = w * w + x * x + y * y + z * z;
    if (n > 0.05 && n < 1) return Eigen::Quaterniond(w, x, y, z).normalized();
  }
}

Mat3d Random::rotation() { return quaternion().toRotationMatrix(); }

Mat3d Random::aligned_rotation() {
  Mat3d R = Mat3d::Zero();
  const int i = below(3), j = (i + 1 + below(2)) % 3;
  R(i, 0) = chance(0.5) ? 1 : -1, R(j, 1) = chance(0.5) ? 1 : -1;
  R.col(2) = R.col(0).cross(R.col(1));
  return R;
}

std::uint64_t Random::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::string name_of(JointType type) { return joint_traits(type).name; }

ModelBuilder builder(const RobotSpec& spec) {
  ModelBuilder b(spec.name);
  for (const LinkSpec& l : spec.links) b.add_link(l);
  for (const JointSpec& j : spec.joints) b.add_joint(j);
  for (const FrameSpec& f : spec.frames) b.add_frame(f);
  for (const std::string& l : spec.floating) b.float_root(l);
  b.set_gravity(spec.gravity);
  return b;
}

Robot build(const RobotSpec& spec) { return builder(spec).build(); }

LinkSpec random_link(Random& random, const std::string& name) {
  const double a = random.uniform(0.02, 0.2), b = random.uniform(0.02, 0.2), c = random.uniform(0.02, 0.2);
  LinkSpec link{name, random.uniform(0.5, 3)};
  link.com = random.vector(0.3);
  const Mat3d R = random.rotation(), D = Vec3d(b + c, a + c, a + b).asDiagonal();
  link.inertia = R * D * R.transpose();
  link.inertia = (0.5 * (link.inertia + link.inertia.transpose())).eval();
  return link;
}

Placement<double> random_placement(Random& random, double aligned) {
  return {random.chance(aligned) ? random.aligned_rotation() : random.rotation(),
          random.chance(0.1) ? Vec3d(Vec3d::Zero()) : random.vector(0.5)};
}

JointSpec random_joint(Random& random, const std::string& name, JointType type, const RandomOptions& options) {
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
  if (random.chance(options.armature))
    for (int k = 0; k < n; k++) j.armature.push_back(random.uniform(0, 0.5));
  return j;
}

RobotSpec random_spec(unsigned seed, const RandomOptions& options) {
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
    // a welded link contributes to the body's inertia even where later bodies do not attach to it; some are frames
    // only
    LinkSpec weld = random_link(random, "weld" + std::to_string(i));
    if (random.chance(0.3)) weld = LinkSpec{weld.name};
    JointSpec w;
    w.name = "fixed" + std::to_string(i);
    w.type = JointType::Fixed;
    w.parent = name, w.child = weld.name;
    w.X = random_placement(random, options.aligned);
    // half of the welded links are between the body and its children
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

Robot random_robot(unsigned seed, const RandomOptions& options) { return build(random_spec(seed, options)); }

void store_unit_quaternion(Random& random, double* q) {
  const Eigen::Quaterniond p = random.quaternion();
  q[0] = p.w(), q[1] = p.x(), q[2] = p.y(), q[3] = p.z();
}

State random_state(const Model<double>& m, unsigned seed) {
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

State random_state(const Robot& robot, unsigned seed) { return random_state(robot.model, seed); }

}  // namespace featherstorm::testing
