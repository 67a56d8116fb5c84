// The bodies of a URDF, links that are fixed to each other taken as one, and whether forward dynamics exists for them.
#pragma once

#include <string_view>
#include <vector>

#include "host/urdf/urdf.h"

namespace featherstorm {

// A link and what is fixed to it.
struct UrdfBody {
  int link = -1;                                  // the link whose frame this is: the root, or one that a joint moves
  double mass = 0;                                // [kg]
  Eigen::Vector3d com = Eigen::Vector3d::Zero();  // centre of mass, frame of `link` [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the centre of mass, axes of `link` [kg m^2]
  double subtree_mass = 0;                            // with all that it carries [kg]
  bool carries = false;                               // whether another body hangs on it
};

// All bodies, the root's first, every body before what it carries.
std::vector<UrdfBody> merge_fixed_links(const Urdf& urdf);

// Every joint moves mass, the last body of a branch has inertia about its joint's axis, a floating root has mass.
// Links without mass between joints are sound. Errors: Error that names the joint or the root link.
void check_urdf_masses(const Urdf& urdf, const std::vector<UrdfBody>& bodies, bool floating_base,
                       std::string_view name);

}  // namespace featherstorm
