// Any robot with a world in which many geoms touch, without a model file: a geom on every link, of all shapes in turn,
// the ground below them and contacts of all dimensions between them; limits, dry friction, and an equality between two
// coordinates.
#pragma once
#include "core/collision/candidates.h"
#include "core/model/builder.h"

namespace featherstorm::testing {

struct TouchingWorld {
  bool convex = false;    // shapes without a closed form, and a height field as ground
  bool elliptic = false;  // elliptic cones
  int apart = 4;          // geoms of links may touch if their numbers differ by a multiple of this
  double margin = 0.01;   // [m]
  double size = 1;        // size of geoms; 1: 5 to 8 cm
};

// A cube with corners at +-h.
inline Hull<double> cube_hull(double h) {
  std::vector<Vec3<double>> corner;
  for (int k = 0; k < 8; k++) corner.push_back({(k & 1) ? h : -h, (k & 2) ? h : -h, (k & 4) ? h : -h});
  return hull_from(corner, {{{1, 0, 0}, {1, 3, 7, 5}},
                            {{-1, 0, 0}, {0, 4, 6, 2}},
                            {{0, 1, 0}, {2, 6, 7, 3}},
                            {{0, -1, 0}, {0, 1, 5, 4}},
                            {{0, 0, 1}, {4, 5, 7, 6}},
                            {{0, 0, -1}, {0, 2, 3, 1}}});
}

inline Robot with_touching_world(Robot robot, const TouchingWorld& o = {}) {
  const Model<double>& m = robot.model;
  World<double> w;
  w.timestep = 0.002;
  w.link.resize(static_cast<std::size_t>(m.nb) + 1);
  for (int l = 1; l <= m.nb; l++) {
    WorldLink<double>& link = w.link[static_cast<std::size_t>(l)];
    const auto& I = m.body[static_cast<std::size_t>(l)].I;
    link.place.body = link.inertial.body = l, link.mass = I.m;
    link.place.X = link.inertial.X = identity_placement<double>();
    if (I.m > 0) link.inertial.X.r = I.h * (1 / I.m);
    link.parent = m.body[static_cast<std::size_t>(l)].parent;
  }
  w.damping.assign(static_cast<std::size_t>(m.nv), Polynomial<double>{0.3, {0, 0}});
  const auto nv = static_cast<std::size_t>(m.nv);
  w.compensated.assign(nv, 0), w.effort_limited.assign(nv, 0), w.effort_lower.assign(nv, 0),
      w.effort_upper.assign(nv, 0);

  GeomContacts<double>& c = w.contacts;
  c.elliptic = o.elliptic, c.impedance_ratio = 1;
  c.hull.push_back(cube_hull(0.05 * o.size));
  HeightField<double> field{5, 4, 3, 3, 0.05, 0.5, {}};
  for (int k = 0; k < field.rows * field.columns; k++) field.height.push_back(0.5 + 0.5 * std::sin(1.7 * k));
  c.field.push_back(field);
  const auto add = [&](GeomType type, int body, const Vec3<double>& size) {
    Geom<double> g;
    g.type = type, g.place = {body, identity_placement<double>()}, g.size = size * o.size;
    g.hull = type == GeomType::Mesh ? 0 : -1, g.field = type == GeomType::HeightField ? 0 : -1;
    c.geom.push_back(g);
  };
  add(GeomType::Plane, 0, {0, 0, 0});
  add(GeomType::HeightField, 0, {0, 0, 0});
  using enum GeomType;
  const std::vector<GeomType> shapes =
      o.convex ? std::vector{Ellipsoid, Cylinder, Mesh, Box, Capsule, Sphere} : std::vector{Capsule, Sphere, Box};
  for (int l = 1; l <= m.nb; l++) {
    const GeomType type = shapes[static_cast<std::size_t>(l) % shapes.size()];
    add(type, l, type == Box ? Vec3<double>{0.05, 0.04, 0.06} : Vec3<double>{0.05, 0.08, 0.06});
  }
  const Softness<double> soft{{0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}, 2};
  constexpr int dimensions[] = {3, 4, 1, 6};
  const auto pair = [&](int g, int h) {
    if (c.geom[static_cast<std::size_t>(g)].type > c.geom[static_cast<std::size_t>(h)].type) std::swap(g, h);
    ContactPair<double> p;
    p.geom[0] = g, p.geom[1] = h;
    p.slots = slots_of(c.geom[static_cast<std::size_t>(g)].type, c.geom[static_cast<std::size_t>(h)].type);
    p.dimension = dimensions[c.pair.size() % 4];
    for (double& mu : p.friction) mu = 0.6;
    p.softness = soft, p.friction_reference[0] = 0.02, p.friction_reference[1] = 1;
    p.inverse_inertia[0] = 0.5, p.inverse_inertia[1] = 20;
    p.margin = o.margin, p.detection = 2 * o.margin;
    c.pair.push_back(p);
  };
  for (int l = 1; l <= m.nb; l++) pair(0, l + 1);
  if (o.convex) pair(1, 2), pair(1, 3);
  for (int l = 1; l <= m.nb; l++)
    for (int other = l + o.apart; other <= m.nb; other += o.apart) pair(l + 1, other + 1);

  const auto coordinate = [&](int back) { return std::pair{m.nq - back, m.nv - back}; };
  for (int back : {1, 2, 4}) {
    Limit<double> limit;
    std::tie(limit.q, limit.v) = coordinate(back);
    limit.softness = soft, limit.inverse_inertia = 5, limit.lower = -0.3, limit.upper = 0.2;
    w.constraints.limit.push_back(limit);
  }
  w.constraints.friction.push_back({false, coordinate(3).second, soft, 0.4, 0.6});
  Equality<double> together;
  together.kind = EqualityKind::Joint, together.softness = soft, together.inverse_inertia[0] = 20;
  together.coupled = true;
  std::tie(together.q[0], together.v[0]) = coordinate(5), std::tie(together.q[1], together.v[1]) = coordinate(6);
  together.coefficient[1] = 0.5;
  w.constraints.equality.push_back(together);
  robot.model.world = w;
  return robot;
}

}  // namespace featherstorm::testing
