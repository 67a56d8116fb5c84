#include "host/urdf/urdf_mass.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "host/urdf/urdf_text.h"

namespace featherstorm {

namespace {

using urdf::quote;

constexpr double kNothing = 1e-14;  // an inertia about an axis below this fraction of the body's is rounding

// The placement of a link in its body: p_body = rotation p_link + translation.
struct Place {
  int body = -1;
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();
};

// Links from the root outwards, every parent before its children.
std::vector<int> outward(const Urdf& urdf) {
  std::vector<std::vector<int>> children(urdf.links.size());
  for (const UrdfJoint& joint : urdf.joints) children[joint.parent].push_back(joint.child);
  std::vector<int> order{urdf.root};
  for (std::size_t i = 0; i < order.size(); ++i)
    order.insert(order.end(), children[order[i]].begin(), children[order[i]].end());
  return order;
}

// Adds a link at its placement to its body.
void add(UrdfBody& body, const UrdfLink& link, const Place& place) {
  if (link.mass == 0 && link.inertia.isZero(0)) return;
  const Eigen::Vector3d c = place.rotation * link.com + place.translation;
  const Eigen::Matrix3d I = place.rotation * link.inertia * place.rotation.transpose();
  const double mass = body.mass + link.mass;
  if (link.mass == 0) {
    body.inertia += I;
  } else if (body.mass == 0) {
    body.com = c, body.inertia += I;
  } else {
    // I = I_1 + I_2 + (m_1 m_2 / m) (d^2 1 - d d^T), where d leads from one centre of mass to the other
    const Eigen::Vector3d d = c - body.com;
    body.inertia +=
        I + body.mass * (link.mass / mass) * (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
    body.com += d * (link.mass / mass);
  }
  body.mass = mass;
}

// True if the body has no inertia about the unit vector `axis` through its origin.
bool turns_freely(const UrdfBody& body, const Eigen::Vector3d& axis) {
  const double about_com = axis.dot(body.inertia * axis), offset = body.mass * axis.cross(body.com).squaredNorm();
  return about_com + offset <= kNothing * (body.inertia.trace() + body.mass * body.com.squaredNorm());
}

// True if the body has no inertia about some axis through its centre of mass.
bool is_a_line(const UrdfBody& body) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(body.inertia, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[0] <= kNothing * body.inertia.trace();
}

// The last body of a branch must have inertia about its joint's axis. Returns the reason if not, or an empty string.
std::string missing_inertia(const UrdfJoint& joint, const UrdfBody& body) {
  switch (joint.type) {
    case UrdfJointType::kFixed:
    case UrdfJointType::kPrismatic: return "";
    case UrdfJointType::kRevolute:
    case UrdfJointType::kContinuous:
    case UrdfJointType::kPlanar:
      return joint.armature == 0 && turns_freely(body, joint.axis) ? "has no inertia about its axis" : "";
    case UrdfJointType::kFloating: return is_a_line(body) ? "has no inertia about some axis" : "";
  }
  return "";
}

}  // namespace

std::vector<UrdfBody> merge_fixed_links(const Urdf& urdf) {
  std::vector<UrdfBody> bodies;
  std::vector<Place> places(urdf.links.size());
  std::vector<int> parent;  // parent of each body
  for (int i : outward(urdf)) {
    const UrdfLink& link = urdf.links[i];
    const UrdfJoint* joint = link.joint < 0 ? nullptr : &urdf.joints[link.joint];
    if (joint && joint->type == UrdfJointType::kFixed) {
      const Place& above = places[joint->parent];
      places[i] = {above.body, above.rotation * joint->rotation,
                   above.rotation * joint->translation + above.translation};
    } else {
      places[i].body = static_cast<int>(bodies.size());
      bodies.push_back({.link = i});
      parent.push_back(joint ? places[joint->parent].body : -1);
    }
    add(bodies[places[i].body], link, places[i]);
  }
  for (std::size_t i = bodies.size(); i-- > 0;) {
    bodies[i].subtree_mass += bodies[i].mass;
    if (parent[i] < 0) continue;
    bodies[parent[i]].subtree_mass += bodies[i].subtree_mass;
    bodies[parent[i]].carries = true;
  }
  return bodies;
}

void check_urdf_masses(const Urdf& urdf, const std::vector<UrdfBody>& bodies, bool floating_base,
                       std::string_view name) {
  for (const UrdfBody& body : bodies) {
    const UrdfLink& link = urdf.links[body.link];
    if (link.joint < 0) {
      if (!floating_base) continue;
      if (body.mass == 0)
        urdf::fail(name, link.line,
                   "floating base: the root link " + quote(link.name) + " and what is fixed to it have no mass");
      if (!body.carries && is_a_line(body))
        urdf::fail(name, link.line, "floating base: link " + quote(link.name) + " has no inertia about some axis");
      continue;
    }
    const UrdfJoint& joint = urdf.joints[link.joint];
    if (body.subtree_mass == 0 && joint.armature == 0)
      urdf::fail(name, joint.line,
                 "joint " + quote(joint.name) + " moves no mass: link " + quote(link.name) +
                     " and all beyond it are massless");
    if (body.carries || body.subtree_mass == 0) continue;
    const std::string wrong = missing_inertia(joint, body);
    if (!wrong.empty())
      urdf::fail(name, joint.line, "joint " + quote(joint.name) + ": link " + quote(link.name) + " " + wrong);
  }
}

}  // namespace featherstorm
