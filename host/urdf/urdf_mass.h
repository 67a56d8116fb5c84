// The bodies of a URDF, each made of links that are fixed to each other, and a check that forward dynamics exists for
// them.
#pragma once

#include <string_view>
#include <vector>

#include "host/urdf/urdf.h"

namespace featherstorm {

// A link and the links fixed to it.
struct UrdfBody {
  int link = -1;    // the link whose frame is used: the root, or a link that a joint moves
  double mass = 0;  // [kg]
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      // centre of mass, frame of `link` [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the centre of mass, axes of `link` [kg m^2]
  double subtree_mass = 0;                            // mass of the body and all bodies it carries [kg]
  bool carries = false;                               // true if another body is attached to it
};

// All bodies, the root's first, every body before the bodies it carries.
std::vector<UrdfBody> merge_fixed_links(const Urdf& urdf);

// Checks that every joint moves mass, that the last body of a branch has inertia about its joint's axis, and that a
// floating root has mass. Links without mass between joints are valid. Errors: Error that names the joint or the root
// link.
void check_urdf_masses(const Urdf& urdf, const std::vector<UrdfBody>& bodies, bool floating_base,
                       std::string_view name);

}  // namespace featherstorm
