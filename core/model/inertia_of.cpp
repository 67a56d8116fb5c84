#include "core/model/inertia_of.h"

#include <map>

namespace featherstorm {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}
double size(const char* shape, const char* what, double x) {
  require(std::isfinite(x) && x > 0,
          std::string(shape) + ": " + what + " is " + std::to_string(x) + ", expected more than 0");
  return x;
}
double mass_of(const char* shape, double m) {
  require(std::isfinite(m) && m >= 0, std::string(shape) + ": mass is " + std::to_string(m) + ", expected 0 or more");
  return m;
}

Mat3d diagonal(double x, double y, double z) { return Vec3d(x, y, z).asDiagonal(); }

// m (|s|^2 1 - s s^T)
Mat3d inertia_of_point(double m, const Vec3d& s) {
  return m * (s.squaredNorm() * Mat3d::Identity() - s * s.transpose());
}

// From second moments P = int r r^T dm about the origin: I = tr(P) 1 - P, moved to the centre of mass.
MassProperties from_moments(double m, const Vec3d& first, const Mat3d& P, const Vec3d& origin) {
  MassProperties a{m, Vec3d::Zero(), Mat3d::Zero()};
  if (m == 0) return a;
  const Vec3d c = first / m;
  const Mat3d C = P - m * c * c.transpose();
  a.com = origin + c;
  a.inertia = C.trace() * Mat3d::Identity() - C;
  return a;
}

// The middle of the vertices, as a reference point near them: far from the origin no digits are lost.
Vec3d middle(const char* what, const std::vector<Vec3d>& vertices, const std::vector<Triangle>& triangles) {
  Vec3d c = Vec3d::Zero();
  for (const Vec3d& v : vertices) {
    require(v.allFinite(), std::string(what) + ": a vertex is not finite");
    c += v / static_cast<double>(vertices.size());
  }
  for (const Triangle& t : triangles)
    for (int i : t)
      require(i >= 0 && i < static_cast<int>(vertices.size()),
              std::string(what) + ": triangle has vertex " + std::to_string(i) + ", expected 0 to " +
                  std::to_string(static_cast<int>(vertices.size()) - 1));
  return c;
}

}  // namespace

MassProperties operator+(const MassProperties& a, const MassProperties& b) {
  const double m = a.mass + b.mass;
  if (m == 0) return {0, a.com, a.inertia + b.inertia};
  const Vec3d c = (a.mass * a.com + b.mass * b.com) / m;
  return {m, c, a.inertia + b.inertia + inertia_of_point(a.mass, a.com - c) + inertia_of_point(b.mass, b.com - c)};
}
MassProperties placed(const Placement<double>& X, const MassProperties& a) {
  return {a.mass, X.r + X.R * a.com, X.R * a.inertia * X.R.transpose()};
}
MassProperties with_mass(MassProperties a, double mass) {
  mass_of("with_mass", mass);
  require(a.mass > 0, "with_mass: the shape has no mass to scale");
  a.inertia *= mass / a.mass;
  a.mass = mass;
  return a;
}
LinkSpec link(const std::string& name, const MassProperties& a) { return {name, a.mass, a.com, a.inertia}; }

MassProperties particles(const std::vector<double>& masses, const std::vector<Vec3d>& points) {
  require(masses.size() == points.size(), "particles: " + std::to_string(masses.size()) + " masses and " +
                                              std::to_string(points.size()) + " points, expected as many of both");
  MassProperties a;
  Vec3d first = Vec3d::Zero();
  for (std::size_t i = 0; i < masses.size(); i++) {
    require(points[i].allFinite(), "particles: a point is not finite");
    a.mass += mass_of("particles", masses[i]);
    first += masses[i] * points[i];
  }
  if (a.mass > 0) a.com = first / a.mass;
  for (std::size_t i = 0; i < masses.size(); i++) a.inertia += inertia_of_point(masses[i], points[i] - a.com);
  return a;
}

MassProperties box(double mass, const Vec3d& edges) {
  for (double x : {edges.x(), edges.y(), edges.z()}) size("box", "edge", x);
  const Vec3d s = edges.cwiseProduct(edges) * (mass_of("box", mass) / 12);
  return {mass, Vec3d::Zero(), diagonal(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())};
}
MassProperties ellipsoid(double mass, const Vec3d& semi_axes) {
  for (double x : {semi_axes.x(), semi_axes.y(), semi_axes.z()}) size("ellipsoid", "semi-axis", x);
  const Vec3d s = semi_axes.cwiseProduct(semi_axes) * (mass_of("ellipsoid", mass) / 5);
  return {mass, Vec3d::Zero(), diagonal(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())};
}
MassProperties sphere(double mass, double radius) {
  return ellipsoid(mass_of("sphere", mass), Vec3d::Constant(size("sphere", "radius", radius)));
}
MassProperties cylinder(double mass, double radius, double length) {
  const double m = mass_of("cylinder", mass), r = size("cylinder", "radius", radius),
               l = size("cylinder", "length", length);
  const double x = m * (3 * r * r + l * l) / 12;
  return {m, Vec3d::Zero(), diagonal(x, x, m * r * r / 2)};
}
MassProperties capsule(double mass, double radius, double length) {
  const double m = mass_of("capsule", mass), r = size("capsule", "radius", radius),
               l = size("capsule", "length", length);
  // volumes of cylinder and ball share the mass; half a ball has its centre 3 r / 8 from its face
  const double ball = m * 4 * r / (4 * r + 3 * l), x = ball * 2 * r * r / 5 + ball * (l * l / 4 + 3 * l * r / 8);
  const MassProperties tube = cylinder(m - ball, r, l);
  return {m, Vec3d::Zero(), tube.inertia + diagonal(x, x, ball * 2 * r * r / 5)};
}
MassProperties cone(double mass, double radius, double height) {
  const double m = mass_of("cone", mass), r = size("cone", "radius", radius), h = size("cone", "height", height);
  const double x = m * (3 * r * r / 20 + 3 * h * h / 80);
  return {m, {0, 0, h / 4}, diagonal(x, x, 3 * m * r * r / 10)};
}

MassProperties box_shell(double mass, const Vec3d& edges) {
  for (double x : {edges.x(), edges.y(), edges.z()}) size("box_shell", "edge", x);
  mass_of("box_shell", mass);
  const double area = 2 * (edges.x() * edges.y() + edges.y() * edges.z() + edges.z() * edges.x());
  Vec3d s = Vec3d::Zero();  // second moments along x, y, z
  for (int k = 0; k < 3; k++) {
    // the two faces across axis k
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double m = mass * 2 * edges(i) * edges(j) / area;
    s(k) += m * edges(k) * edges(k) / 4, s(i) += m * edges(i) * edges(i) / 12, s(j) += m * edges(j) * edges(j) / 12;
  }
  return {mass, Vec3d::Zero(), diagonal(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())};
}
MassProperties sphere_shell(double mass, double radius) {
  const double I = mass_of("sphere_shell", mass) * 2 * std::pow(size("sphere_shell", "radius", radius), 2) / 3;
  return {mass, Vec3d::Zero(), diagonal(I, I, I)};
}
MassProperties cylinder_shell(double mass, double radius, double length) {
  const double m = mass_of("cylinder_shell", mass), r = size("cylinder_shell", "radius", radius);
  const double l = size("cylinder_shell", "length", length), x = m * (6 * r * r + l * l) / 12;
  return {m, Vec3d::Zero(), diagonal(x, x, m * r * r)};
}
MassProperties disc(double mass, double radius) {
  const double I = mass_of("disc", mass) * std::pow(size("disc", "radius", radius), 2) / 4;
  return {mass, Vec3d::Zero(), diagonal(I, I, 2 * I)};
}
MassProperties rod(double mass, double length) {
  const double I = mass_of("rod", mass) * std::pow(size("rod", "length", length), 2) / 12;
  return {mass, Vec3d::Zero(), diagonal(I, I, 0)};
}

MassProperties mesh(double density, const std::vector<Vec3d>& vertices, const std::vector<Triangle>& triangles) {
  size("mesh", "density", density);
  const Vec3d o = middle("mesh", vertices, triangles);
  std::map<std::pair<int, int>, int> edges;  // each edge once in each direction
  for (const Triangle& t : triangles)
    for (int k = 0; k < 3; k++) {
      edges[{t[k], t[(k + 1) % 3]}]++;
      edges[{t[(k + 1) % 3], t[k]}]--;
    }
  for (const auto& [edge, count] : edges)
    require(count == 0, "mesh: the surface is open or its triangles are not turned alike at the edge from vertex " +
                            std::to_string(edge.first) + " to " + std::to_string(edge.second));
  double volume = 0;
  Vec3d first = Vec3d::Zero();
  Mat3d P = Mat3d::Zero();
  for (const Triangle& t : triangles) {
    // tetrahedron of the middle and the triangle: int 1 = det / 6, int r = det / 24 s, int r r^T = det / 120 (sum v v^T
    // + s s^T)
    const Vec3d a = vertices[t[0]] - o, b = vertices[t[1]] - o, c = vertices[t[2]] - o, s = a + b + c;
    const double det = dot(a, cross(b, c));
    volume += det / 6;
    first += det / 24 * s;
    P += det / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  require(volume > 0, "mesh: the surface encloses " + std::to_string(volume) +
                          " m^3, expected triangles that are counter-clockwise seen from outside");
  return from_moments(density * volume, density * first, density * P, o);
}
MassProperties mesh_shell(double density, const std::vector<Vec3d>& vertices, const std::vector<Triangle>& triangles) {
  size("mesh_shell", "density", density);
  const Vec3d o = middle("mesh_shell", vertices, triangles);
  double area = 0;
  Vec3d first = Vec3d::Zero();
  Mat3d P = Mat3d::Zero();
  for (const Triangle& t : triangles) {
    // int 1 = A, int r = A s / 3, int r r^T = A / 12 (sum v v^T + s s^T)
    const Vec3d a = vertices[t[0]] - o, b = vertices[t[1]] - o, c = vertices[t[2]] - o, s = a + b + c;
    const double A = cross(Vec3d(b - a), Vec3d(c - a)).norm() / 2;
    area += A;
    first += A / 3 * s;
    P += A / 12 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  require(area > 0, "mesh_shell: the surface has no area");
  return from_moments(density * area, density * first, density * P, o);
}

}  // namespace featherstorm
