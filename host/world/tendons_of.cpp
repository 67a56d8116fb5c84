// Reads the tendons of a MuJoCo model.
#include <algorithm>
#include <cmath>

#include "core/trace/expr.h"
#include "host/world/element_name.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_springs = 1 << 5, no_dampers = 1 << 6;  // mjtDisableBit
constexpr int tendon_transmission = 3;                   // mjtTrn

// mjtWrap
TendonPartKind part_kind(int wrap, int tendon) {
  switch (wrap) {
    case 1: return TendonPartKind::Joint;
    case 2: return TendonPartKind::Pulley;
    case 3: return TendonPartKind::Site;
    case 4: return TendonPartKind::Sphere;
    case 5: return TendonPartKind::Cylinder;
    default:
      throw Error("tendon " + std::to_string(tendon) + ": parts of type " + std::to_string(wrap) +
                  " are not supported");
  }
}

// The side on which the tendon passes the object. AroundOrInside if the side site moves relative to the object, or if
// an input decides it.
template <class T> TendonSide side_of(const TendonPart<T>& part) {
  const Vec3<T> d = part.side.X.r - part.place.X.r;
  const double distance = std::sqrt(known(T(dot(d, d)))), radius = known(part.number);
  if (part.side.body != part.place.body || std::isnan(distance) || std::isnan(radius))
    return TendonSide::AroundOrInside;
  return distance < radius ? TendonSide::Inside : TendonSide::Around;
}

template <class T> TendonPart<T> part_of(const WorldTables<T>& tables, const Places<T>& places, int tendon, int wrap) {
  const int object = tables.integer("wrap_objid", wrap);
  const double number = tables.row("wrap_prm", wrap)[0];
  TendonPart<T> part;
  part.place.X = part.side.X = identity_placement<T>();
  part.kind = part_kind(tables.integer("wrap_type", wrap), tendon);
  part.number = T(number);
  switch (part.kind) {
    case TendonPartKind::Joint:
      part.q = tables.integer("jnt_qposadr", object);
      part.v = tables.integer("jnt_dofadr", object);
      break;
    case TendonPartKind::Pulley: break;
    case TendonPartKind::Site: part.place = places.site(object); break;
    case TendonPartKind::Sphere:
    case TendonPartKind::Cylinder: {
      part.place = places.geom(object);
      part.number = tables.numbers("geom_size", object, 3)[0];
      const int side = static_cast<int>(std::lround(number));
      if (side < 0) break;
      part.side = places.site(side);
      part.passes = side_of(part);
      break;
    }
  }
  return part;
}

template <class T> Polynomial<T> polynomial(const T& linear, const std::vector<T>& higher) {
  return {linear, {higher[0], higher[1]}};
}
template <class T> void add_scaled(Polynomial<T>& p, const T& s, const Polynomial<T>& other) {
  p.linear += s * other.linear;
  for (int k = 0; k < 2; k++) p.higher[k] += s * other.higher[k];
}
bool is_zero(const auto& t, const std::string& of, int i) {
  const auto higher = t.nominal_row(of + "poly", i, 2);
  return t.nominal(of, i) == 0 && higher[0] == 0 && higher[1] == 0;
}

}  // namespace

template <class T> void add_tendons(World<T>& world, const WorldTables<T>& tables, const Places<T>& places) {
  const int flags = tables.integer("opt.disableflags");
  for (int i = 0; i < tables.integer("ntendon"); i++) {
    if (tables.integer("tendon_plasticadr", i) >= 0)
      throw Error("tendon " + std::to_string(i) + ": plastic springs (springyield) are not supported");
    Tendon<T> t;
    const int first = tables.integer("tendon_adr", i);
    for (int k = 0; k < tables.integer("tendon_num", i); k++) t.part.push_back(part_of(tables, places, i, first + k));
    t.spatial = t.part.at(0).kind != TendonPartKind::Joint;
    t.stiffness = polynomial(tables.real("tendon_stiffness", i), tables.numbers("tendon_stiffnesspoly", i, 2));
    t.damping = polynomial(tables.real("tendon_damping", i), tables.numbers("tendon_dampingpoly", i, 2));
    t.armature = tables.real("tendon_armature", i);
    bool damped = !is_zero(tables, "tendon_damping", i);
    t.inert = tables.nominal("tendon_armature", i) != 0;
    // actuators add damping and armature of their own
    for (int a = 0; a < tables.integer("nactuator"); a++) {
      if (tables.integer("actuator_trntype", a) != tendon_transmission) continue;
      if (static_cast<int>(tables.row("actuator_trnid", a, 2)[0]) != i) continue;
      const T gear = tables.numbers("actuator_gear", tables.integer("actuator_outadr", a), 6)[0];
      damped = damped || !is_zero(tables, "actuator_damping", a);
      add_scaled(t.damping, T(gear * gear),
                 polynomial(tables.real("actuator_damping", a), tables.numbers("actuator_dampingpoly", a, 2)));
      t.armature += gear * gear * tables.real("actuator_armature", a);
      t.inert = t.inert || tables.nominal("actuator_armature", a) != 0;
    }
    const auto goes_around = [](const TendonPart<T>& part) {
      return part.kind == TendonPartKind::Sphere || part.kind == TendonPartKind::Cylinder;
    };
    if (t.inert && std::any_of(t.part.begin(), t.part.end(), goes_around))
      throw Error(element_name(tables.tables(), "tendon", "name_tendonadr", i) +
                  ": armature is not supported for tendons that wrap around geoms; set it to 0");
    t.elastic = (flags & no_springs) == 0 && !is_zero(tables, "tendon_stiffness", i);
    t.damped = (flags & no_dampers) == 0 && damped;
    t.slack_lower = tables.numbers("tendon_lengthspring", i, 2)[0];
    t.slack_upper = tables.numbers("tendon_lengthspring", i, 2)[1];
    t.force_limited = tables.flag("tendon_actfrclimited", i);
    t.force_lower = tables.numbers("tendon_actfrcrange", i, 2)[0];
    t.force_upper = tables.numbers("tendon_actfrcrange", i, 2)[1];
    world.tendon.push_back(t);
  }
}

template void add_tendons(World<double>&, const WorldTables<double>&, const Places<double>&);
template void add_tendons(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&);

}  // namespace featherstorm
