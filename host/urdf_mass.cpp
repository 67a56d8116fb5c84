#include <Eigen/Eigenvalues>
#include <cmath>

#include "host/urdf.h"
#include "host/urdf_text.h"

namespace featherstorm {

namespace {

using urdf::quote;

constexpr double kNothing = 1e-14;  // an inertia about an axis below this share of the body's is rounding

// A link and what is fixed to it.
struct Body {
  int link = -1;                                      // the link whose frame this is
  double mass = 0;                                    // [kg]
  Eigen::Vector3d h = Eigen::Vector3d::Zero();        // mass times centre of mass, frame of `link` [kg m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the origin of `link` [kg m^2]
  double subtree_mass = 0;                            // with all that it carries [kg]
  bool carries = false;                               // whether another body hangs on it
};

// Where a link is in its body: p_body = rotation p_link + translation.
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

std::vector<Body> merge_fixed_links(const Urdf& urdf) {
  std::vector<Body> bodies;
  std::vector<Place> places(urdf.links.size());
  std::vector<int> parent;  // of each body
  for (int i : outward(urdf)) {
    const UrdfLink& link = urdf.links[i];
    Place& place = places[i];
    const UrdfJoint* joint = link.joint < 0 ? nullptr : &urdf.joints[link.joint];
    if (joint && joint->type == UrdfJointType::kFixed) {
      const Place& above = places[joint->parent];
      place.body = above.body;
      place.rotation = above.rotation * joint->rotation;
      place.translation = above.rotation * joint->translation + above.translation;
    } else {
      place.body = static_cast<int>(bodies.size());
      bodies.push_back({.link = i});
      parent.push_back(joint ? places[joint->parent].body : -1);
    }
    // I_O = R I_C R^T - m c x c x
    Body& body = bodies[place.body];
    const Eigen::Vector3d c = place.rotation * link.com + place.translation;
    body.mass += link.mass;
    body.h += link.mass * c;
    body.inertia += place.rotation * link.inertia * place.rotation.transpose() +
                    link.mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  }
  for (std::size_t i = bodies.size(); i-- > 0;) {
    bodies[i].subtree_mass += bodies[i].mass;
    if (parent[i] < 0) continue;
    bodies[parent[i]].subtree_mass += bodies[i].subtree_mass;
    bodies[parent[i]].carries = true;
  }
  return bodies;
}

// Whether the body can turn about the unit vector `axis` through its origin without any inertia.
bool turns_freely(const Body& body, const Eigen::Vector3d& axis) {
  return axis.dot(body.inertia * axis) <= kNothing * body.inertia.trace();
}

// Whether the body can turn about some axis through its centre of mass without any inertia.
bool is_a_line(const Body& body) {
  const Eigen::Vector3d c = body.h / body.mass;
  const Eigen::Matrix3d I =
      body.inertia - body.mass * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(I, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()[0] <= kNothing * body.inertia.trace();
}

// The last body of a branch must resist its joint; why not, or an empty string.
std::string missing_inertia(const UrdfJoint& joint, const Body& body) {
  switch (joint.type) {
    case UrdfJointType::kFixed:
    case UrdfJointType::kPrismatic:
      return "";
    case UrdfJointType::kRevolute:
    case UrdfJointType::kContinuous:
    case UrdfJointType::kPlanar:
      return joint.armature == 0 && turns_freely(body, joint.axis) ? "has no inertia about its axis" : "";
    case UrdfJointType::kFloating:
      return is_a_line(body) ? "has no inertia about some axis" : "";
  }
  return "";
}

}  // namespace

void check_urdf_masses(const Urdf& urdf, bool floating_base, std::string_view name) {
  for (const Body& body : merge_fixed_links(urdf)) {
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
    if (body.subtree_mass == 0)
      urdf::fail(name, joint.line,
                 "joint " + quote(joint.name) + " moves no mass: link " + quote(link.name) +
                     " and all beyond it are massless");
    if (body.carries) continue;
    const std::string wrong = missing_inertia(joint, body);
    if (!wrong.empty())
      urdf::fail(name, joint.line, "joint " + quote(joint.name) + ": link " + quote(link.name) + " " + wrong);
  }
}

}  // namespace featherstorm
