// Reads equalities, dry friction and limits of a compiled MuJoCo model.
#include <algorithm>
#include <string>

#include "core/trace/expr.h"
#include "host/world/softness_of.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

enum MujocoJoint { free_joint, ball_joint, slide_joint, hinge_joint };                 // mjtJoint
enum MujocoEquality { connect, weld, joint, tendon, flex, flex_vertex, flex_strain };  // mjtEq
constexpr int site_object = 6;                                                         // mjtObj, mjOBJ_SITE
constexpr int no_constraints = 1 << 0, no_equalities = 1 << 1, no_friction = 1 << 2, no_limits = 1 << 3,
              no_safe_reference = 1 << 12;  // mjtDisableBit
constexpr int exact_diagonal = 1 << 5;      // mjtEnableBit
constexpr int equality_numbers = 12;        // mjNEQDATA

template <class T> Quaternion<T> quaternion(const std::vector<T>& q) { return {q[0], q[1], q[2], q[3]}; }
// The rotation of a body in its parent. A mocap body has the rotation of the state, or that of the file if the state
// is not an input; body_quat is its initial rotation.
template <class T> Quaternion<T> turn_of_body(const WorldTables<T>& t, int body) {
  const int mocap = t.integer("body_mocapid", body);
  if (mocap < 0) return quaternion(t.numbers("body_quat", body, 4));
  if (t.is_given("mocap_quat")) return quaternion(t.numbers("mocap_quat", mocap, 4));
  const auto placed = t.nominal_row("body_quat", body, 4);
  return {T(placed[0]), T(placed[1]), T(placed[2]), T(placed[3])};
}
template <class T> Quaternion<T> straight() { return {T(1.0), T(0.0), T(0.0), T(0.0)}; }
// The rotation of a site in its body. MuJoCo replaces it by that of the body or its inertia where the axes agree
// [mjtSameFrame].
template <class T> Quaternion<T> turn_of_site(const WorldTables<T>& t, int site) {
  enum { none, body_frame, inertia_frame, body_axes, inertia_axes };
  const int same = t.integer("site_sameframe", site);
  if (same == body_frame || same == body_axes) return straight<T>();
  if (same == none) return quaternion(t.numbers("site_quat", site, 4));
  return quaternion(t.numbers("body_iquat", t.integer("site_bodyid", site), 4));
}

template <class T> Softness<T> softness(const WorldTables<T>& t, const std::string& reference,
                                        const std::string& impedance, int i) {
  return softness_of(t.numbers(reference, i, 2), t.numbers(impedance, i, 5));
}

// The quaternion of a body in the axes of a body above it: the product of the joint rotations between them, in order,
// times `rest`. It has the sign of MuJoCo's products [xquat].
template <class T> struct Orientation {
  std::vector<JointTurn<T>> turn;  // along the axes of the body above
  Quaternion<T> rest = straight<T>();
};
template <class T> Orientation<T> orientation(const WorldTables<T>& t, int body, int above) {
  std::vector<int> path;
  for (; body != above; body = t.integer("body_parentid", body)) path.insert(path.begin(), body);
  Orientation<T> r;
  for (const int b : path) {
    const int first = t.integer("body_jntadr", b), count = t.integer("body_jntnum", b);
    const bool floats = count == 1 && t.integer("jnt_type", first) == free_joint;
    // the placement of a free body is in its coordinates
    if (!floats) r.rest = normalised(r.rest * turn_of_body(t, b));
    for (int j = first; j < first + count; j++) {
      const int type = t.integer("jnt_type", j), q = t.integer("jnt_qposadr", j);
      if (type == slide_joint) continue;
      const Mat3<T> R = matrix(r.rest);
      JointTurn<T> turn;
      turn.ball = type != hinge_joint;
      turn.q = floats ? q + 3 : q;
      if (turn.ball) {
        for (int k = 0; k < 3; k++) turn.axis[k] = {R(0, k), R(1, k), R(2, k)};
      } else {
        const auto axis = t.row("jnt_axis", j, 3);
        turn.zero = t.real("qpos0", q);
        turn.axis[0] = R * Vec3<T>{T(axis[0]), T(axis[1]), T(axis[2])};
      }
      r.turn.push_back(turn);
    }
  }
  return r;
}

// Sets q_1^-1 q_0 of frames that are turned by r0, r1 in bodies b0, b1.
template <class T> void set_orientation(Equality<T>& e, const WorldTables<T>& t, int b0, const Quaternion<T>& r0,
                                        int b1, const Quaternion<T>& r1) {
  int above = b0, other = b1;
  while (above != other) {
    int& deeper = above > other ? above : other;
    deeper = t.integer("body_parentid", deeper);
  }
  const Orientation<T> o0 = orientation(t, b0, above), o1 = orientation(t, b1, above);
  // (t_1 .. t_n Q_1)^-1 = t'_n^-1 .. t'_1^-1 Q_1^-1 with axes t' = Q_1^-1 t
  const Quaternion<T> back = conjugated(o1.rest * r1);
  const Mat3<T> R = matrix(normalised(back));
  for (std::size_t k = o1.turn.size(); k-- > 0;) {
    JointTurn<T> turn = o1.turn[k];
    for (auto& axis : turn.axis) axis = -(R * axis);
    e.turn.push_back(turn);
  }
  for (JointTurn<T> turn : o0.turn) {
    for (auto& axis : turn.axis) axis = R * axis;
    e.turn.push_back(turn);
  }
  e.aligned = back * (o0.rest * r0);
}

template <class T> void set_bodies(Equality<T>& e, const WorldTables<T>& t, const Places<T>& places, int i) {
  const bool of_sites = t.integer("eq_objtype", i) == site_object;
  const auto data = t.numbers("eq_data", i, equality_numbers);
  int body[2];
  Quaternion<T> turned[2];
  for (int k = 0; k < 2; k++) {
    const int id = t.integer(k == 0 ? "eq_obj1id" : "eq_obj2id", i);
    body[k] = e.link[k] = of_sites ? t.integer("site_bodyid", id) : id;
    if (of_sites) {
      e.place[k] = places.site(id), turned[k] = turn_of_site(t, id);
    } else {
      // anchors: connect has those of the first and the second body, weld the other way around
      const int anchor = (e.kind == EqualityKind::Weld) == (k == 0) ? 3 : 0;
      const auto at = data.begin() + anchor;
      e.place[k] = places.in_link(id, {at[0], at[1], at[2]}, {T(1.0), T(0.0), T(0.0), T(0.0)});
      turned[k] = straight<T>();
      if (e.kind == EqualityKind::Weld && k == 0) turned[k] = {data[6], data[7], data[8], data[9]};
    }
  }
  const auto inverse_0 = t.numbers("body_invweight0", body[0], 2), inverse_1 = t.numbers("body_invweight0", body[1], 2);
  for (std::size_t k = 0; k < 2; k++) e.inverse_inertia[k] = inverse_0[k] + inverse_1[k];  // translation, rotation
  if (e.kind != EqualityKind::Weld) return;
  e.torque_scale = data[10];
  set_orientation(e, t, body[0], turned[0], body[1], turned[1]);
}

// True if an object held by the equality can move.
template <class T> bool is_held(const WorldTables<T>& t, const Places<T>& places, int i) {
  const int type = t.integer("eq_type", i);
  if (type < connect || type > tendon)
    throw Error("equality " + std::to_string(i) + ": flexible bodies are not supported");
  if (type == joint || type == tendon) return true;
  const bool of_sites = t.integer("eq_objtype", i) == site_object;
  const auto moves = [&](const char* of) {
    const int id = t.integer(of, i);
    return places.link(of_sites ? t.integer("site_bodyid", id) : id).body != 0;
  };
  return moves("eq_obj1id") || moves("eq_obj2id");
}

// Sets an equality between joints or tendons.
template <class T> void set_coupling(Equality<T>& e, const WorldTables<T>& t, int i) {
  const auto data = t.numbers("eq_data", i, equality_numbers);
  for (std::size_t k = 0; k < 5; k++) e.coefficient[k] = data[k];
  for (int k = 0; k < 2; k++) {
    const int id = t.integer(k == 0 ? "eq_obj1id" : "eq_obj2id", i);
    if (id < 0) continue;
    if (k == 1) e.coupled = true;
    if (e.kind == EqualityKind::Joint) {
      e.q[k] = t.integer("jnt_qposadr", id), e.v[k] = t.integer("jnt_dofadr", id);
      e.zero[k] = t.real("qpos0", e.q[k]);
      e.inverse_inertia[0] += t.real("dof_invweight0", e.v[k]);
    } else {
      e.tendon[k] = id;
      e.zero[k] = t.real("tendon_length0", id);
      e.inverse_inertia[0] += t.real("tendon_invweight0", id);
    }
  }
}

template <class T> void add_equalities(Constraints<T>& c, const WorldTables<T>& t, const Places<T>& places) {
  for (const int i : held_equalities(t, places)) {
    const int type = t.integer("eq_type", i);
    Equality<T> e;
    e.place[0].X = e.place[1].X = identity_placement<T>();
    e.kind = static_cast<EqualityKind>(type);
    e.active = t.flag("eq_active0", i);
    e.softness = softness(t, "eq_solref", "eq_solimp", i);
    if (type == connect || type == weld) {
      set_bodies(e, t, places, i);
    } else {
      set_coupling(e, t, i);
    }
    c.equality.push_back(e);
  }
}

template <class T> void add_friction(Constraints<T>& c, const WorldTables<T>& t) {
  for (int i = 0; i < t.integer("nv"); i++) {
    if (t.nominal("dof_frictionloss", i) != 0)
      c.friction.push_back({false, i, softness(t, "dof_solref", "dof_solimp", i), t.real("dof_invweight0", i),
                            t.real("dof_frictionloss", i)});
  }
  for (int i = 0; i < t.integer("ntendon"); i++) {
    if (t.nominal("tendon_frictionloss", i) > 0)
      c.friction.push_back({true, i, softness(t, "tendon_solref_fri", "tendon_solimp_fri", i),
                            t.real("tendon_invweight0", i), t.real("tendon_frictionloss", i)});
  }
}

template <class T> void add_limits(Constraints<T>& c, const WorldTables<T>& t) {
  for (int j = 0; j < t.integer("njnt"); j++) {
    const int type = t.integer("jnt_type", j);
    if (!t.flag("jnt_limited", j) || type == free_joint) continue;
    Limit<T> l;
    l.kind = type == ball_joint ? LimitKind::Ball : LimitKind::Coordinate;
    l.q = t.integer("jnt_qposadr", j), l.v = t.integer("jnt_dofadr", j);
    l.softness = softness(t, "jnt_solref", "jnt_solimp", j);
    l.inverse_inertia = t.real("dof_invweight0", l.v);
    const auto range = t.numbers("jnt_range", j, 2);
    l.lower = range[0], l.upper = type == ball_joint ? max(range[0], range[1]) : range[1];
    l.margin = t.real("jnt_margin", j);
    c.limit.push_back(l);
  }
  for (int i = 0; i < t.integer("ntendon"); i++) {
    if (!t.flag("tendon_limited", i)) continue;
    Limit<T> l;
    l.kind = LimitKind::Tendon;
    l.tendon = i;
    l.softness = softness(t, "tendon_solref_lim", "tendon_solimp_lim", i);
    l.inverse_inertia = t.real("tendon_invweight0", i);
    const auto range = t.numbers("tendon_range", i, 2);
    l.lower = range[0], l.upper = range[1];
    l.margin = t.real("tendon_margin", i);
    c.limit.push_back(l);
  }
}

}  // namespace

template <class T> void add_constraints(World<T>& world, const WorldTables<T>& tables, const Places<T>& places) {
  const int off = tables.integer("opt.disableflags");
  Constraints<T>& c = world.constraints;
  c.safe_reference = (off & no_safe_reference) == 0;
  if (off & no_constraints) return;
  if (!(off & no_equalities)) add_equalities(c, tables, places);
  if (!(off & no_friction)) add_friction(c, tables);
  if (!(off & no_limits)) add_limits(c, tables);
  c.exact_inertia = (tables.integer("opt.enableflags") & exact_diagonal) != 0;
  if (!c.exact_inertia) return;
  const T one(1.0);
  for (Equality<T>& e : c.equality) e.inverse_inertia[0] = e.inverse_inertia[1] = one;
  for (DryFriction<T>& f : c.friction) f.inverse_inertia = one;
  for (Limit<T>& l : c.limit) l.inverse_inertia = one;
}

template <class T> std::vector<int> held_equalities(const WorldTables<T>& t, const Places<T>& places) {
  std::vector<int> found;
  for (int i = 0; i < t.integer("neq"); i++)
    if (is_held(t, places, i)) found.push_back(i);
  return found;
}
template std::vector<int> held_equalities(const WorldTables<double>&, const Places<double>&);
template std::vector<int> held_equalities(const WorldTables<Expr>&, const Places<Expr>&);

template void add_constraints(World<double>&, const WorldTables<double>&, const Places<double>&);
template void add_constraints(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&);

}  // namespace featherstorm
