#include "core/model/edit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/model/joints.h"

namespace featherstorm {
namespace {

// A description whose parts may be changed.
struct Parts {
  std::string name;
  std::vector<LinkSpec> links;
  std::vector<JointSpec> joints;
  std::vector<FrameSpec> frames;
  std::vector<std::string> floating;
  Vec3d gravity;

  explicit Parts(const ModelBuilder& b)
      : name(b.name()),
        links(b.links()),
        joints(b.joints()),
        frames(b.frames()),
        floating(b.floating()),
        gravity(b.gravity()) {}
  ModelBuilder builder() const {
    ModelBuilder b(name);
    for (const LinkSpec& l : links) b.add_link(l);
    for (const JointSpec& j : joints) b.add_joint(j);
    for (const FrameSpec& f : frames) b.add_frame(f);
    for (const std::string& l : floating) b.float_root(l);
    b.set_gravity(gravity);
    return b;
  }

  JointSpec& joint(const std::string& name) {
    for (JointSpec& j : joints)
      if (j.name == name) return j;
    throw ModelError("joint", name, "does not exist");
  }
  JointSpec* joint_to(const std::string& link) {
    for (JointSpec& j : joints)
      if (j.child == link) return &j;
    return nullptr;
  }
  bool has_link(const std::string& link) const {
    return std::any_of(links.begin(), links.end(), [&](const LinkSpec& l) { return l.name == link; });
  }
  const FrameSpec* frame(const std::string& name) const {
    for (const FrameSpec& f : frames)
      if (f.name == name) return &f;
    return nullptr;
  }
};

}  // namespace

ModelBuilder merged(const ModelBuilder& a, const ModelBuilder& b, JointSpec joint, const std::string& prefix) {
  Parts robot(a), added(b);
  if (!added.has_link(joint.child)) throw ModelError("link", joint.child, "does not exist in robot '" + b.name() + "'");
  if (const JointSpec* j = added.joint_to(joint.child))
    throw ModelError("link", joint.child,
                     "is no root of robot '" + b.name() + "': joint '" + j->name + "' leads to it");
  std::erase(added.floating, joint.child);
  if (!joint.parent.empty() && !robot.has_link(joint.parent)) {
    const FrameSpec* f = robot.frame(joint.parent);
    if (!f) throw ModelError("link", joint.parent, "is no link or frame of robot '" + a.name() + "'");
    joint.X = f->X * joint.X, joint.parent = f->link;
  }
  auto named = [&](const std::string& name) { return name.empty() ? name : prefix + name; };
  for (LinkSpec& l : added.links) l.name = named(l.name), robot.links.push_back(l);
  joint.child = named(joint.child);
  robot.joints.push_back(joint);
  for (JointSpec& j : added.joints) {
    j.name = named(j.name), j.parent = named(j.parent), j.child = named(j.child);
    robot.joints.push_back(j);
  }
  for (FrameSpec& f : added.frames) f.name = named(f.name), f.link = named(f.link), robot.frames.push_back(f);
  for (const std::string& l : added.floating) robot.floating.push_back(named(l));
  return robot.builder();
}

CutRobot cut(const ModelBuilder& whole, const std::string& name) {
  Parts rest(whole), part(whole);
  const JointSpec joint = rest.joint(name);
  std::set<std::string> subtree{joint.child};
  for (std::size_t size = 0; size != subtree.size();) {
    size = subtree.size();
    for (const JointSpec& j : rest.joints)
      if (subtree.count(j.parent)) subtree.insert(j.child);
  }
  part.name = whole.name() + "_" + joint.child;
  std::erase_if(rest.links, [&](const LinkSpec& l) { return subtree.count(l.name) > 0; });
  std::erase_if(part.links, [&](const LinkSpec& l) { return subtree.count(l.name) == 0; });
  std::erase_if(rest.joints, [&](const JointSpec& j) { return subtree.count(j.child) > 0; });
  std::erase_if(part.joints, [&](const JointSpec& j) { return j.name == name || subtree.count(j.child) == 0; });
  std::erase_if(rest.frames, [&](const FrameSpec& f) { return subtree.count(f.link) > 0; });
  std::erase_if(part.frames, [&](const FrameSpec& f) { return subtree.count(f.link) == 0; });
  part.floating.clear();
  return {rest.builder(), part.builder(), joint};
}

ModelBuilder rerooted(const ModelBuilder& robot, const std::string& link) {
  Parts r(robot);
  if (!r.has_link(link)) throw ModelError("link", link, "does not exist");
  std::vector<std::string> path;  // joints from the new root to the old one
  std::string root = link;
  for (JointSpec* j = r.joint_to(root); j && !j->parent.empty(); j = r.joint_to(root)) {
    if (path.size() == r.joints.size()) throw ModelError("link", link, "is part of a cycle of joints");
    path.push_back(j->name), root = j->parent;
  }
  if (root == link) return robot;
  for (std::string& l : r.floating)
    if (l == root) l = link;
  if (JointSpec* j = r.joint_to(root)) {  // from the world
    if (j->type != JointType::Free)
      throw ModelError("link", link,
                       "cannot be the root: joint '" + j->name + "' holds link '" + root + "' to the world");
    if (std::any_of(j->armature.begin(), j->armature.end(), [](double a) { return a != 0; }))
      throw ModelError("link", link,
                       "cannot be the root: joint '" + j->name + "' has an armature, which link '" + root + "' moves");
    j->child = link;
  }
  for (const std::string& name : path) {
    JointSpec j = r.joint(name);
    const Placement<double> X = j.X;
    std::string base = j.parent;
    if (j.type == JointType::Fixed) {
      j.X = inverse(X);
    } else {
      // T_PC = X J, so T_C,base = J^-1 with a base whose frame is the joint's, and the parent welded to it at X^-1
      j.X = identity_placement<double>();
      if (joint_traits(j.type).symmetric) j.axis = -j.axis;
      else j.reversed = !j.reversed;
      if ((X.R - Mat3d::Identity()).norm() > 0 || X.r.norm() > 0) {
        base = name + "_base";
        while (r.has_link(base)) base += '_';
        r.links.push_back({base});
        JointSpec weld{base + "_weld", JointType::Fixed, base, j.parent};
        weld.X = inverse(X);
        r.joints.push_back(weld);
      }
    }
    j.parent = j.child, j.child = base;
    r.joint(name) = j;
  }
  return r.builder();
}

ModelBuilder replaced(const ModelBuilder& robot, JointSpec joint) {
  Parts r(robot);
  JointSpec& old = r.joint(joint.name);
  if (joint.parent.empty()) joint.parent = old.parent;
  if (joint.child.empty()) joint.child = old.child;
  old = std::move(joint);
  return r.builder();
}

Placement<double> placement_at(const JointSpec& joint, const std::vector<double>& q) {
  const bool user = joint.type == JointType::UserDefined;
  const int n = user ? joint.user.nq : joint_size(joint.type).nq;
  if (static_cast<int>(q.size()) != n)
    throw ModelError("joint", joint.name,
                     "position has " + std::to_string(q.size()) + " numbers, expected " + std::to_string(n));
  Placement<double> J = identity_placement<double>();
  if (user) {
    if (joint.user.time_dependent) throw ModelError("joint", joint.name, "depends on time");
    const double v[6] = {};
    UserJointAt<double> at;
    joint.user.at(joint.parameter, q.data(), v, at);
    J = at.X;
  }
  const UserParameter b{joint.parameter};
  with_joint_type(joint.type, [&](auto type) { J = decltype(type)::template placement<double>(b, q.data()); });
  const Mat3d Z = axes_of(joint);
  if (joint.reversed) J = inverse(J);
  return joint.X * Placement<double>{Z * J.R * Z.transpose(), Z * J.r};
}

ModelBuilder locked(const ModelBuilder& robot, const std::string& name, const std::vector<double>& q) {
  Parts r(robot);
  JointSpec& j = r.joint(name);
  JointSpec weld{name, JointType::Fixed, j.parent, j.child};
  weld.X = placement_at(j, q);
  j = std::move(weld);
  return r.builder();
}

ModelBuilder reordered(const ModelBuilder& robot, const std::vector<std::string>& names) {
  Parts r(robot), other(robot);
  if (std::set<std::string>(names.begin(), names.end()).size() != r.joints.size() || names.size() != r.joints.size())
    throw ModelError("model", r.name,
                     std::to_string(names.size()) + " names of joints, expected each of " +
                         std::to_string(r.joints.size()) + " once");
  r.joints.clear();
  for (const std::string& name : names) r.joints.push_back(other.joint(name));
  return r.builder();
}

ModelBuilder description(const Robot& robot) {
  const Model<double>& m = robot.model;
  ModelBuilder b(robot.name);
  b.set_gravity(m.gravity);
  // placement of each body's link in the body
  std::vector<Placement<double>> link(m.nb + 1, identity_placement<double>());
  for (int i = 1; i <= m.nb; i++) link[i] = m.frame[robot.frame(robot.body_names[i])].X;
  for (int i = 1; i <= m.nb; i++) {
    const Body<double>& body = m.body[i];
    const RigidBodyInertia<double> I = apply_transpose(inverse(link[i]), body.I);
    LinkSpec l{robot.body_names[i], I.m};
    if (I.m > 0) {
      l.com = I.h / I.m;
      l.inertia = full(I.I) - I.m * (l.com.squaredNorm() * Mat3d::Identity() - l.com * l.com.transpose());
    }
    b.add_link(l);
    JointSpec j{robot.joint_names[i - 1], body.type, body.parent == 0 ? "" : robot.body_names[body.parent], l.name};
    // the frame of joint axes has z along the axis; turned back, it is the child link's at q = 0
    const Placement<double> zero{matrix(body.zero), Vec3d::Zero()};
    j.X = inverse(link[body.parent]) * body.X_T * zero * link[i];
    j.axis = link[i].R.transpose().col(2);
    j.parameter = body.parameter, j.reversed = body.reversed;
    if (body.type == JointType::UserDefined) j.user = m.user[body.user];
    const int end = i < m.nb ? m.body[i + 1].v : m.nv;
    auto part = [&](const std::vector<double>& a) { return std::vector<double>(a.begin() + body.v, a.begin() + end); };
    j.lower = part(m.lower), j.upper = part(m.upper), j.max_velocity = part(m.max_velocity);
    j.max_effort = part(m.max_effort), j.damping = part(m.damping), j.friction = part(m.friction);
    if (body.rotor) j.armature = part(m.armature);
    b.add_joint(j);
  }
  const std::set<std::string> bodies(robot.body_names.begin() + 1, robot.body_names.end());
  for (int k = 0; k < m.nf; k++) {
    const std::string& name = robot.frame_names[k];
    const int i = m.frame[k].body;
    if (bodies.count(name)) continue;
    if (i > 0) {
      b.add_frame({name, robot.body_names[i], inverse(link[i]) * m.frame[k].X});
      continue;
    }
    b.add_link({name});
    JointSpec weld{name + "_weld", JointType::Fixed, "", name};
    weld.X = m.frame[k].X;
    b.add_joint(weld);
  }
  return b;
}

}  // namespace featherstorm
