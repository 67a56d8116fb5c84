// Mass, centre of mass and inertia of particles, solids, thin shells and triangle meshes. Lynch and Park section 9.2.1;
// Kim (14)-(20); RBDA section 2.13.
//
//   m = int dm,  m c = int r dm,  Ibar_C = int (|s|^2 1 - s s^T) dm with s = r - c   (products of inertia are negative)
//
//   MassProperties shank = cylinder(2.0, 0.04, 0.4) + placed({R, r}, sphere(0.3, 0.05));
//   builder.add_link(link("shank", shank));
//
// Every solid has its axis along z and its centre in the origin, but for the cone. Masses [kg], lengths [m]. A size
// that is negative, zero or not finite is refused with std::invalid_argument; a mass may be zero.
#pragma once
#include <array>
#include <vector>

#include "core/model/builder.h"

namespace featherstorm {

struct MassProperties {
  double mass = 0;                // [kg]
  Vec3d com = Vec3d::Zero();      // centre of mass [m]
  Mat3d inertia = Mat3d::Zero();  // about the centre of mass [kg m^2]
};

// The sum of both.
MassProperties operator+(const MassProperties& a, const MassProperties& b);
// The same in the parent's axes, where X places the frame of a: c' = r + R c, I' = R I R^T.
MassProperties placed(const Placement<double>& X, const MassProperties& a);
// The same shape with another mass.
MassProperties with_mass(MassProperties a, double mass);
// A link for ModelBuilder.
LinkSpec link(const std::string& name, const MassProperties& a);

// Point masses: c = sum m_i r_i / m, Ibar = sum m_i (|s_i|^2 1 - s_i s_i^T).
MassProperties particles(const std::vector<double>& masses, const std::vector<Vec3d>& points);

// solids of uniform density
MassProperties box(double mass, const Vec3d& size);                  // edges along the axes: I_zz = m (x^2 + y^2) / 12
MassProperties ellipsoid(double mass, const Vec3d& semi_axes);       // I_zz = m (a^2 + b^2) / 5
MassProperties sphere(double mass, double radius);                   // 2/5 m r^2
MassProperties cylinder(double mass, double radius, double length);  // I_zz = m r^2 / 2, I_xx = m (3 r^2 + l^2) / 12
MassProperties capsule(double mass, double radius,
                       double length);  // cylinder of this length with half a sphere at each end
MassProperties cone(double mass, double radius,
                    double height);  // base in the plane z = 0 round the origin, tip at +height

// thin shells and rods of uniform density
MassProperties box_shell(double mass, const Vec3d& size);                  // six faces
MassProperties sphere_shell(double mass, double radius);                   // 2/3 m r^2
MassProperties cylinder_shell(double mass, double radius, double length);  // a tube without ends
MassProperties disc(double mass, double radius);                           // I_zz = m r^2 / 2
MassProperties rod(double mass, double length);                            // I_xx = m l^2 / 12, I_zz = 0

using Triangle = std::array<int, 3>;  // vertices, counter-clockwise seen from outside

// A solid with this closed surface, by the divergence theorem as a sum of signed tetrahedra; exact for polyhedra of any
// shape. density [kg/m^3]. Throws where the surface has an open edge, or encloses no volume because it is inside out.
MassProperties mesh(double density, const std::vector<Vec3d>& vertices, const std::vector<Triangle>& triangles);
// The surface alone, open or closed. density [kg/m^2]
MassProperties mesh_shell(double density, const std::vector<Vec3d>& vertices, const std::vector<Triangle>& triangles);

}  // namespace featherstorm
