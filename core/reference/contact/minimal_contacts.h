// Minimal sets of contacts: line and surface contacts as few points. RBDA section 11.6, Figure 11.7.
//
// A contact adds no constraint if its normal is a sum of other normals with coefficients >= 0. Such contacts are
// removed. An edge on a plane keeps its two ends, a face keeps the vertices of its convex hull. An edge on a ruled
// surface or a disc has no finite minimal set, so it keeps all its points. Forces may differ from those of the full
// set, accelerations do not. Reference only.
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace featherstorm {

// in  normals (6 | nv, n)  columns: spatial normals, or t of joint space
// in  tolerance  for the residual of a dependent normal, relative to its length
// Returns the columns that are kept, ascending.
std::vector<int> minimal_contacts(const Eigen::MatrixXd& normals, double tolerance = 1e-7);

}  // namespace featherstorm
