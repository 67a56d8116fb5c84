#include "core/model/builder.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "core/model/joint_axes.h"
#include "core/model/joints.h"

namespace featherstorm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool finite(const Vec3d& v) { return v.allFinite(); }

std::vector<double> per_dof(const std::vector<double>& given, int n, double fallback, const JointSpec& j,
                            const char* what, bool may_be_negative, bool may_be_infinite) {
  if (given.empty()) return std::vector<double>(n, fallback);
  if (static_cast<int>(given.size()) != n)
    throw ModelError(
        "joint", j.name,
        std::string(what) + " has " + std::to_string(given.size()) + " numbers, expected " + std::to_string(n));
  for (double x : given)
    if (std::isnan(x) || (!may_be_infinite && std::isinf(x)) || (!may_be_negative && x < 0))
      throw ModelError("joint", j.name, std::string(what) + " is " + std::to_string(x));
  return given;
}

}  // namespace

Mat3d axes_of(const JointSpec& j) {
  return joint_traits(j.type).has_axis ? z_to(j.axis.normalized()) : Mat3d(Mat3d::Identity());
}

std::string inertia_error(double mass, const Vec3d& com, const Mat3d& inertia) {
  if (!std::isfinite(mass) || !com.allFinite() || !inertia.allFinite())
    return "mass, centre of mass or inertia is not finite";
  if (mass < 0) return "mass is negative";
  const double scale = inertia.cwiseAbs().maxCoeff();
  if ((inertia - inertia.transpose()).cwiseAbs().maxCoeff() > 1e-9 * scale) return "inertia is not symmetric";
  return "";
}

std::string inertia_fault(double mass, const Vec3d&, const Mat3d& inertia) {
  const double scale = inertia.cwiseAbs().maxCoeff();
  if (mass == 0 && scale > 0) return "inertia without mass";
  const Vec3d e = Eigen::SelfAdjointEigenSolver<Mat3d>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  if (e(0) < -1e-9 * scale) return "inertia is not positive definite";
  // principal moments of a mass distribution: the largest is at most the sum of the others
  if (e(2) > (e(0) + e(1)) * (1 + 1e-3) + 1e-12) return "principal moments of inertia violate the triangle inequality";
  return "";
}

int Robot::frame(const std::string& n) const {
  for (std::size_t i = 0; i < frame_names.size(); i++)
    if (frame_names[i] == n) return static_cast<int>(i);
  return -1;
}
int Robot::joint(const std::string& n) const {
  for (std::size_t i = 0; i < joint_names.size(); i++)
    if (joint_names[i] == n) return static_cast<int>(i) + 1;
  return -1;
}

void ModelBuilder::add_link(LinkSpec link) { links_.push_back(std::move(link)); }
void ModelBuilder::add_joint(JointSpec joint) { joints_.push_back(std::move(joint)); }
void ModelBuilder::add_frame(FrameSpec frame) { frames_.push_back(std::move(frame)); }
void ModelBuilder::float_root(const std::string& link) { floating_.push_back(link); }

std::vector<double> neutral(const Model<double>& m) {
  std::vector<double> q(m.nq, 0.0);
  for (int i = 1; i <= m.nb; i++) {
    const int w = joint_traits(m.body[i].type).quaternion;
    if (w >= 0) q[m.body[i].q + w] = 1;
  }
  return q;
}

Robot ModelBuilder::build(bool strict) const {
  Robot robot;
  // names and finiteness
  std::map<std::string, int> link_of;
  for (std::size_t i = 0; i < links_.size(); i++) {
    const LinkSpec& l = links_[i];
    if (l.name.empty()) throw ModelError("link", l.name, "has no name");
    if (!link_of.emplace(l.name, i).second) throw ModelError("link", l.name, "name is used twice");
    const std::string error = inertia_error(l.mass, l.com, l.inertia);
    if (!error.empty()) throw ModelError("link", l.name, error);
    if (const std::string fault = inertia_fault(l.mass, l.com, l.inertia); !fault.empty()) {
      if (strict) throw ModelError("link", l.name, fault);
      robot.odd.push_back("link '" + l.name + "': " + fault + "; kept as given, though no body has it");
    }
  }
  if (!finite(gravity_)) throw ModelError("model", name_, "gravity is not finite");
  std::vector<JointSpec> joints;
  std::set<std::string> joint_names;
  const auto is_named = [this](const std::string& name) {
    return std::any_of(joints_.begin(), joints_.end(), [&](const JointSpec& j) { return j.name == name; });
  };
  for (const std::string& root : floating_) {
    JointSpec j;
    j.name = floating_.size() == 1 ? "root" : "root_" + root;
    while (is_named(j.name)) j.name += '_';  // a joint of the file keeps its name
    j.type = JointType::Free;
    j.child = root;
    joints.push_back(j);
  }
  joints.insert(joints.end(), joints_.begin(), joints_.end());
  std::vector<int> joint_to(links_.size(), -1);
  std::vector<std::vector<int>> joints_from(links_.size() + 1);  // by parent link; the last is the world
  for (std::size_t k = 0; k < joints.size(); k++) {
    JointSpec& j = joints[k];
    if (!joint_names.insert(j.name).second) throw ModelError("joint", j.name, "name is used twice");
    auto child = link_of.find(j.child), parent = link_of.find(j.parent);
    if (child == link_of.end()) throw ModelError("joint", j.name, "child link '" + j.child + "' does not exist");
    if (!j.parent.empty() && parent == link_of.end())
      throw ModelError("joint", j.name, "parent link '" + j.parent + "' does not exist");
    if (joint_to[child->second] >= 0)
      throw ModelError(
          "link", j.child,
          "has two parents, through joints '" + joints[joint_to[child->second]].name + "' and '" + j.name + "'");
    joint_to[child->second] = static_cast<int>(k);
    joints_from[j.parent.empty() ? links_.size() : parent->second].push_back(static_cast<int>(k));
    if (!j.X.R.allFinite() || !j.X.r.allFinite()) throw ModelError("joint", j.name, "placement is not finite");
    if ((j.X.R * j.X.R.transpose() - Mat3d::Identity()).norm() > 1e-6 || j.X.R.determinant() < 0)
      throw ModelError("joint", j.name, "placement is not a rotation");
    if (!std::isfinite(j.parameter)) throw ModelError("joint", j.name, "parameter is not finite");
    if (joint_traits(j.type).has_axis && (!j.axis.allFinite() || j.axis.norm() < 1e-9))
      throw ModelError("joint", j.name, "axis is zero or not finite");
    if (j.type == JointType::UserDefined && (!j.user.at || j.user.nv < 1))
      throw ModelError("joint", j.name, "user-defined joint has no functions");
  }

  robot.name = name_;
  Model<double>& m = robot.model;
  m.gravity = gravity_;
  m.body.push_back({});
  m.body[0].X_T = identity_placement<double>();
  m.body[0].zero = {1, 0}, m.body[0].tilt = {1, 0};
  robot.body_names.push_back("world");

  // depth first from the world and from every root link; `at` is the link's place in its body
  struct Place {
    int body;
    Placement<double> X;
  };
  std::vector<std::optional<Place>> place(links_.size());
  std::vector<const JointSpec*> spec{nullptr};
  std::vector<int> body_of_joint(joints.size(), -1);
  struct Visit {
    int link;
    Place place;
  };
  std::vector<Visit> stack;
  auto enter = [&](int k, const Place& parent) {  // through joint k to its child link
    const JointSpec& j = joints[k];
    const int child = link_of.at(j.child);
    if (j.type == JointType::Fixed) {
      stack.push_back({child, {parent.body, parent.X * j.X}});
      return;
    }
    stack.push_back({child, {-1 - k, parent.X * j.X}});  // body made when visited, so that numbering is depth first
    body_of_joint[k] = parent.body;
  };
  auto enter_all = [&](const std::vector<int>& ks, const Place& p) {
    for (auto k = ks.rbegin(); k != ks.rend(); ++k) enter(*k, p);
  };
  const Place world{0, identity_placement<double>()};
  for (std::size_t i = links_.size(); i-- > 0;)
    if (joint_to[i] < 0) stack.push_back({static_cast<int>(i), world});
  enter_all(joints_from[links_.size()], world);
  while (!stack.empty()) {
    Visit visit = stack.back();
    stack.pop_back();
    Place p = visit.place;
    const LinkSpec& l = links_[visit.link];
    if (p.body < 0) {
      const int k = -1 - p.body;
      const JointSpec& j = joints[k];
      Body<double> b;
      b.parent = body_of_joint[k];
      b.type = j.type;
      b.reversed = j.reversed;
      b.parameter = j.parameter;
      b.zero = {1, 0}, b.tilt = {1, 0};
      // the body's frame: the child link's, turned so that the joint's axis is z
      const Mat3d Z = axes_of(j);
      b.X_T = {clean_rotation(p.X.R * Z), p.X.r};
      b.I = {0, Vec3d::Zero(), {0, 0, 0, 0, 0, 0}};
      p = {static_cast<int>(m.body.size()), {Z.transpose(), Vec3d::Zero()}};
      body_of_joint[k] = p.body;
      if (j.type == JointType::UserDefined) b.user = static_cast<int>(m.user.size()), m.user.push_back(j.user);
      m.body.push_back(b);
      spec.push_back(&j);
      robot.body_names.push_back(l.name);
      robot.joint_names.push_back(j.name);
    }
    place[visit.link] = p;
    if (p.body > 0 && (l.mass > 0 || !l.inertia.isZero(0))) {
      const RigidBodyInertia<double> I = rigid_body_inertia<double>(l.mass, l.com, upper(Mat3d(l.inertia)));
      m.body[p.body].I = m.body[p.body].I + apply_transpose(p.X, I);
    }
    enter_all(joints_from[visit.link], p);
  }
  for (std::size_t i = 0; i < links_.size(); i++)
    if (!place[i]) throw ModelError("link", links_[i].name, "is part of a cycle of joints");
  m.nb = static_cast<int>(m.body.size()) - 1;

  const std::vector<Mat3d> turn = turn_bodies(m, Turns::axes);
  for (auto& p : place)
    if (p) p->X = Placement<double>{turn[p->body].transpose(), Vec3d::Zero()} * p->X;

  number_coordinates(m);
  for (int i = 1; i <= m.nb; i++) {
    Body<double>& b = m.body[i];
    const JointSpec& j = *spec[i];
    const JointSize size = joint_size(m, b);
    b.second_moments = second_moments(b.I.I);
    auto append = [&](std::vector<double>& to, const std::vector<double>& given, double fallback, const char* what,
                      bool negative, bool infinite) {
      for (double x : per_dof(given, size.nv, fallback, j, what, negative, infinite)) to.push_back(x);
    };
    append(m.armature, j.armature, 0, "armature", false, false);
    append(m.damping, j.damping, 0, "damping", false, false);
    append(m.friction, j.friction, 0, "friction", false, false);
    append(m.lower, j.lower, -infinity, "lower limit", true, true);
    append(m.upper, j.upper, infinity, "upper limit", true, true);
    append(m.max_velocity, j.max_velocity, infinity, "velocity limit", false, true);
    append(m.max_effort, j.max_effort, infinity, "effort limit", false, true);
    for (int k = 0; k < size.nv; k++) {
      const int d = b.v + k;
      if (m.lower[d] > m.upper[d]) throw ModelError("joint", j.name, "lower limit exceeds upper limit");
      b.rotor = b.rotor || m.armature[d] != 0;
      robot.v_names.push_back(size.nv == 1 ? j.name : j.name + "_" + std::to_string(k));
    }
    for (int k = 0; k < size.nq; k++) robot.q_names.push_back(size.nq == 1 ? j.name : j.name + "_" + std::to_string(k));
  }

  // a joint must move a mass
  std::vector<char> moves(m.nb + 1, 0);
  for (int i = m.nb; i >= 1; i--) {
    const Body<double>& b = m.body[i];
    const Sym3<double>& I = b.I.I;
    moves[i] = moves[i] || b.I.m != 0 || I.xx != 0 || I.xy != 0 || I.xz != 0 || I.yy != 0 || I.yz != 0 || I.zz != 0;
    if (!moves[i] && !b.rotor)
      throw ModelError(
          "joint", spec[i]->name,
          "moves no mass, so that forces determine no acceleration: give it a rotor (armature), or make it fixed");
    moves[b.parent] = moves[b.parent] || moves[i];
  }

  for (std::size_t i = 0; i < links_.size(); i++) {
    robot.frame_names.push_back(links_[i].name);
    m.frame.push_back({place[i]->body, place[i]->X});
  }
  for (const FrameSpec& f : frames_) {
    const auto l = link_of.find(f.link);
    if (l == link_of.end()) throw ModelError("frame", f.name, "link '" + f.link + "' does not exist");
    if (robot.frame(f.name) >= 0) throw ModelError("frame", f.name, "name is used twice");
    robot.frame_names.push_back(f.name);
    m.frame.push_back({place[l->second]->body, place[l->second]->X * f.X});
  }
  m.nf = static_cast<int>(m.frame.size());
  for (std::size_t k = floating_.size(); k < joints.size(); k++)
    if (joints[k].type != JointType::Fixed) robot.joint_order.push_back(body_of_joint[k]);
  robot.q0 = neutral(m);
  robot.notices = robot.odd;
  return robot;
}

}  // namespace featherstorm
