// Tendons of a MuJoCo model.
#include <cmath>

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

TendonPart<double> part_of(const MujocoTables& tables, const Places& places, int tendon, int wrap) {
  const int object = tables.integer("wrap_objid", wrap);
  const double number = tables.real("wrap_prm", wrap);
  TendonPart<double> part;
  part.kind = part_kind(tables.integer("wrap_type", wrap), tendon);
  part.number = number;
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
      part.number = tables.row("geom_size", object, 3)[0];
      const int side = static_cast<int>(std::lround(number));
      if (side < 0) break;
      part.sided = true;
      part.side = places.site(side);
      if (part.side.body != part.place.body)
        throw Error("tendon " + std::to_string(tendon) +
                    ": a side site that moves against the object to wrap around is not supported");
      const Vec3d d = part.side.X.r - part.place.X.r;
      part.inside = std::sqrt(dot(d, d)) < part.number;
      break;
    }
  }
  return part;
}

Polynomial<double> polynomial(double linear, std::span<const double> higher) {
  return {linear, {higher[0], higher[1]}};
}
void add_scaled(Polynomial<double>& p, double s, const Polynomial<double>& other) {
  p.linear += s * other.linear;
  for (int k = 0; k < 2; k++) p.higher[k] += s * other.higher[k];
}
bool is_zero(const Polynomial<double>& p) { return p.linear == 0 && p.higher[0] == 0 && p.higher[1] == 0; }

}  // namespace

void add_tendons(World<double>& world, const MujocoTables& tables, const Places& places) {
  const int flags = tables.integer("opt.disableflags");
  for (int i = 0; i < tables.integer("ntendon"); i++) {
    if (tables.integer("tendon_plasticadr", i) >= 0)
      throw Error("tendon " + std::to_string(i) + ": plastic springs (springyield) are not supported");
    Tendon<double> t;
    const int first = tables.integer("tendon_adr", i);
    for (int k = 0; k < tables.integer("tendon_num", i); k++) t.part.push_back(part_of(tables, places, i, first + k));
    t.spatial = t.part.at(0).kind != TendonPartKind::Joint;
    t.stiffness = polynomial(tables.real("tendon_stiffness", i), tables.row("tendon_stiffnesspoly", i, 2));
    t.damping = polynomial(tables.real("tendon_damping", i), tables.row("tendon_dampingpoly", i, 2));
    t.armature = tables.real("tendon_armature", i);
    // actuators have their own
    for (int a = 0; a < tables.integer("nactuator"); a++) {
      if (tables.integer("actuator_trntype", a) != tendon_transmission) continue;
      if (static_cast<int>(tables.row("actuator_trnid", a, 2)[0]) != i) continue;
      const double gear = tables.row("actuator_gear", tables.integer("actuator_outadr", a), 6)[0];
      add_scaled(t.damping, gear * gear,
                 polynomial(tables.real("actuator_damping", a), tables.row("actuator_dampingpoly", a, 2)));
      t.armature += gear * gear * tables.real("actuator_armature", a);
    }
    t.elastic = (flags & no_springs) == 0 && !is_zero(t.stiffness);
    t.damped = (flags & no_dampers) == 0 && !is_zero(t.damping);
    t.slack_lower = tables.row("tendon_lengthspring", i, 2)[0];
    t.slack_upper = tables.row("tendon_lengthspring", i, 2)[1];
    t.force_limited = tables.flag("tendon_actfrclimited", i);
    t.force_lower = tables.row("tendon_actfrcrange", i, 2)[0];
    t.force_upper = tables.row("tendon_actfrcrange", i, 2)[1];
    world.tendon.push_back(t);
  }
}

}  // namespace featherstorm
