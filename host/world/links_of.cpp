// Reads the links of a compiled MuJoCo model and the passive forces on them and their joints: springs, dampers, the
// medium.
#include "core/trace/expr.h"
#include "host/world/element_name.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_springs = 1 << 5, no_dampers = 1 << 6, no_gravity = 1 << 7;  // mjtDisableBit
constexpr double least = 1e-15;                                               // mjMINVAL

template <class T> Polynomial<T> polynomial(const WorldTables<T>& t, const std::string& of, int i) {
  const auto higher = t.numbers(of + "poly", i, 2);
  return {t.real(of, i), {higher[0], higher[1]}};
}
bool is_zero(const auto& t, const std::string& of, int i) {
  const auto higher = t.nominal_row(of + "poly", i, 2);
  return t.nominal(of, i) == 0 && higher[0] == 0 && higher[1] == 0;
}

// The first coordinates, or the numbers of coordinates, of a joint: positions and velocities.
struct Coordinates { int q, v; };
Coordinates coordinates_of(const auto& t, int joint) {
  enum { free = 0, ball = 1 };  // mjtJoint
  switch (t.integer("jnt_type", joint)) {
    case free: return {7, 6};
    case ball: return {4, 3};
    default: return {1, 1};
  }
}

// Sets the semiaxes of the ellipsoid that represents a geom in the medium.
template <class T> void set_semiaxes(const WorldTables<T>& t, int geom, FluidEllipsoid<T>& e) {
  enum { sphere = 2, capsule = 3, cylinder = 5 };  // mjtGeom
  const auto size = t.numbers("geom_size", geom, 3);
  const int type = t.integer("geom_type", geom);
  const bool round = type == sphere || type == capsule || type == cylinder;
  e.semiaxis[0] = size[0];
  e.semiaxis[1] = round ? size[0] : size[1];
  e.semiaxis[2] = size[2];
  if (type == sphere) e.semiaxis[2] = size[0];
  if (type == capsule) e.semiaxis[2] = size[0] + size[1];
  if (type == cylinder) e.semiaxis[2] = size[1];
}

// The geoms of a body that act as ellipsoids in the medium.
template <class T> std::vector<FluidEllipsoid<T>> ellipsoids(const WorldTables<T>& t, const Places<T>& places,
                                                             int body) {
  std::vector<FluidEllipsoid<T>> all;
  const int first = t.integer("body_geomadr", body), n = t.integer("body_geomnum", body);
  for (int g = first; g < first + n; g++) {
    const auto fluid = t.row("geom_fluid", g, 12);
    if (fluid[0] == 0) continue;
    FluidEllipsoid<T> e{places.geom(g)};
    set_semiaxes(t, g, e);
    e.interaction = fluid[0], e.blunt_drag = fluid[1], e.slender_drag = fluid[2], e.angular_drag = fluid[3];
    e.kutta_lift = fluid[4], e.magnus_lift = fluid[5];
    for (int k = 0; k < 3; k++) e.virtual_mass[k] = fluid[6 + k], e.virtual_inertia[k] = fluid[9 + k];
    all.push_back(e);
  }
  return all;
}

template <class T> void add_springs(World<T>& w, const WorldTables<T>& t, const Places<T>& places) {
  const int n = t.integer("njnt");
  for (int j = 0; j < n; j++) {
    if (is_zero(t, "jnt_stiffness", j)) continue;
    JointSpring<T> s{places.joint(j), polynomial(t, "jnt_stiffness", j), {}};
    if (t.integer("jnt_plasticadr", j) >= 0)
      throw Error(element_name(t.tables(), "joint", "name_jntadr", j) +
                  ": springyield: plastic springs are not supported");
    const int first = t.integer("jnt_qposadr", j);
    for (int k = 0; k < coordinates_of(t, j).q; k++) s.reference[k] = t.real("qpos_spring", first + k);
    w.spring.push_back(s);
  }
}

// Adds the damping of coordinates, and of actuators at their joints times the square of the gear.
template <class T> void add_damping(World<T>& w, const WorldTables<T>& t) {
  enum { joint = 0, joint_in_parent = 1 };  // mjtTrn
  for (int k = 0; k < t.integer("nv"); k++) w.damping[k] = polynomial(t, "dof_damping", k);
  const int n = t.integer("nactuator");
  for (int a = 0; a < n; a++) {
    const int transmission = t.integer("actuator_trntype", a);
    if (transmission != joint && transmission != joint_in_parent) continue;
    const Polynomial<T> p = polynomial(t, "actuator_damping", a);
    const T gear = t.numbers("actuator_gear", t.integer("actuator_outadr", a), 6)[0], square = gear * gear;
    const int j = static_cast<int>(t.row("actuator_trnid", a, 2)[0]), first = t.integer("jnt_dofadr", j);
    for (int k = first; k < first + coordinates_of(t, j).v; k++) {
      w.damping[k].linear += p.linear * square;
      for (int i = 0; i < 2; i++) w.damping[k].higher[i] += p.higher[i] * square;
    }
  }
}

}  // namespace

template <class T> void add_links(World<T>& w, const WorldTables<T>& t, const Places<T>& places) {
  const int flags = t.integer("opt.disableflags");
  const bool springs = !(flags & no_springs), dampers = !(flags & no_dampers);
  // with both disabled, MuJoCo has no passive forces at all
  const bool passive = springs || dampers;
  const auto wind = t.numbers("opt.wind", 0, 3);
  w.medium = {t.real("opt.density"), t.real("opt.viscosity"), {wind[0], wind[1], wind[2]}};
  w.has_medium = passive && (t.nominal("opt.density") != 0 || t.nominal("opt.viscosity") != 0);
  const int n = t.integer("nbody");
  for (int b = 0; b < n; b++) {
    WorldLink<T> l;
    l.place = places.link(b);
    l.inertial = places.inertial(b);
    l.mass = t.real("body_mass", b);
    const auto moment = t.numbers("body_inertia", b, 3);
    for (int k = 0; k < 3; k++) l.moment[k] = moment[k];
    l.parent = t.integer("body_parentid", b);
    if (passive && !(flags & no_gravity)) l.gravity_compensation = t.real("body_gravcomp", b);
    if (w.has_medium && t.nominal("body_mass", b) >= least) {
      l.ellipsoid = ellipsoids(t, places, b);
      l.in_medium = l.ellipsoid.empty();
    }
    w.link.push_back(l);
  }
  w.damping.assign(static_cast<std::size_t>(t.integer("nv")), {});
  if (dampers) add_damping(w, t);
  if (springs) add_springs(w, t, places);
}

template void add_links(World<double>&, const WorldTables<double>&, const Places<double>&);
template void add_links(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&);

}  // namespace featherstorm
