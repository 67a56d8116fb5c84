// The contacts that matter: line and surface contacts as few points. RBDA section 11.6, Figure 11.7.
//
// A contact whose normal is a sum of others' with coefficients >= 0 adds no constraint and is left out: of an edge on
// a plane its two ends stay, of a face the vertices of its convex hull. An edge on a ruled surface or a disc has no
// finite minimal set; any points on it stay. Forces of what stays may differ from those of all contacts, accelerations
// do not. Reference only.
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace featherstorm {

// in  normals (6 | nv, n)  columns: spatial normals, or t of joint space
// in  tolerance  of a dependent normal's residual, relative to its length
// Returns the columns that stay, ascending.
std::vector<int> minimal_contacts(const Eigen::MatrixXd& normals, double tolerance = 1e-7);

}  // namespace featherstorm
