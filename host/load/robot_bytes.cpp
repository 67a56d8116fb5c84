#include "host/load/robot_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/collision/candidates.h"
#include "core/model/joint_axes.h"
#include "core/model/joints.h"
#include "host/system/error.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr std::string_view mark = "featherstorm robot " FEATHERSTORM_VERSION " 8\n";

// One list of members serves writing and reading: `archive(x)` appends x to the bytes, or reads x from them.
class Writer {
 public:
  std::string bytes{mark};
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
  void operator()(const Number& x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  void operator()(const std::string& s) { count(s.size()), bytes += s; }
  template <class Element> void operator()(const std::vector<Element>& all) {
    count(all.size());
    for (const Element& x : all) members(*this, const_cast<Element&>(x));
  }
  template <class Element> void operator()(const SharedList<Element>& all) {
    count(all.size());
    for (const Element& x : all) members(*this, const_cast<Element&>(x));
  }

 private:
  void count(std::size_t n) { (*this)(static_cast<std::uint64_t>(n)); }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {
    if (!left_.starts_with(mark))
      throw Error("the bytes are not a robot of this version of featherstorm, " FEATHERSTORM_VERSION);
    left_.remove_prefix(mark.size());
  }
  template <class Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
  void operator()(Number& x) {
    std::memcpy(&x, take(sizeof x), sizeof x);
  }
  void operator()(bool& x) { x = *take(1) != 0; }
  void operator()(std::string& s) {
    const std::size_t n = count(1);
    s.assign(take(n), n);
  }
  template <class Element> void operator()(std::vector<Element>& all) {
    all.resize(count(1));  // an element has at least one byte
    for (Element& x : all) members(*this, x);
  }
  template <class Element> void operator()(SharedList<Element>& all) {
    std::vector<Element> own;
    (*this)(own);
    all = SharedList<Element>(std::move(own));
  }
  bool at_end() const { return left_.empty(); }

 private:
  const char* take(std::size_t n) {
    if (n > left_.size()) throw Error("the bytes of a robot are truncated");
    const char* at = left_.data();
    left_.remove_prefix(n);
    return at;
  }
  std::size_t count(std::size_t least) {
    std::uint64_t n = 0;
    (*this)(n);
    if (n * least > left_.size() || n > left_.size()) throw Error("the bytes of a robot are truncated");
    return static_cast<std::size_t>(n);
  }
  std::string_view left_;
};

template <class A> void members(A& a, int& x) { a(x); }
template <class A> void members(A& a, double& x) { a(x); }
template <class A> void members(A& a, std::string& x) { a(x); }
template <class A> void members(A& a, Vec3d& x) {
  for (int k = 0; k < 3; k++) a(x(k));
}
template <class A> void members(A& a, Sym3<double>& x) { a(x.xx), a(x.xy), a(x.xz), a(x.yy), a(x.yz), a(x.zz); }
template <class A> void members(A& a, Placement<double>& x) {
  for (int k = 0; k < 9; k++) a(x.R(k));
  members(a, x.r);
}
template <class A> void members(A& a, Body<double>& b) {
  a(b.parent), a(b.type), a(b.shape), a(b.reversed), a(b.rotor), a(b.parameter);
  a(b.zero.c), a(b.zero.s), a(b.tilt.c), a(b.tilt.s);
  members(a, b.X_T), a(b.I.m), members(a, b.I.h), members(a, b.I.I), members(a, b.second_moments);
}
template <class A> void members(A& a, Frame<double>& f) { a(f.body), members(a, f.X); }
template <class A> void members(A& a, Loop<double>& l) {
  a(l.type), a(l.p), a(l.s), a(l.row), a(l.parameter), members(a, l.X_P), members(a, l.X_S);
}
template <class A> void members(A& a, Contact<double>& c) {
  a(c.p), a(c.s), a(c.surface), a(c.bounded), members(a, c.X_p), members(a, c.centre);
  a(c.radius_s), a(c.radius), a(c.half_x), a(c.half_y), a(c.friction), a(c.restitution);
}
// The world of a model file.
template <class A> void members(A& a, Polynomial<double>& p) { a(p.linear), a(p.higher[0]), a(p.higher[1]); }
template <class A, std::size_t n> void members(A& a, double (&x)[n]) {
  for (double& e : x) a(e);
}
template <class A> void members(A& a, FluidEllipsoid<double>& e) {
  members(a, e.place), members(a, e.semiaxis), a(e.interaction), a(e.blunt_drag), a(e.slender_drag), a(e.angular_drag);
  a(e.kutta_lift), a(e.magnus_lift), members(a, e.virtual_mass), members(a, e.virtual_inertia);
}
template <class A> void members(A& a, WorldLink<double>& l) {
  members(a, l.place), members(a, l.inertial), a(l.mass), members(a, l.moment), a(l.parent), a(l.gravity_compensation);
  a(l.in_medium), a(l.ellipsoid);
}
template <class A> void members(A& a, JointSpring<double>& s) {
  a(s.body), members(a, s.stiffness), members(a, s.reference);
}
template <class A> void members(A& a, TendonPart<double>& t) {
  a(t.kind), a(t.q), a(t.v), a(t.number), members(a, t.place), a(t.passes), members(a, t.side);
}
template <class A> void members(A& a, Tendon<double>& t) {
  a(t.spatial), a(t.part), a(t.elastic), members(a, t.stiffness), a(t.slack_lower), a(t.slack_upper), a(t.damped);
  members(a, t.damping), a(t.inert), a(t.armature), a(t.force_limited), a(t.force_lower), a(t.force_upper);
}
template <class A> void members(A& a, Control<double>& c) { a(c.limited), a(c.lower), a(c.upper); }
template <class A> void members(A& a, Actuator<double>& u) {
  a(u.transmission), a(u.activation), a(u.gain), a(u.bias), a(u.body), a(u.tendon), a(u.relative);
  members(a, u.site), members(a, u.reference), a(u.pair), members(a, u.gear), a(u.crank_length), a(u.control),
      a(u.controls);
  a(u.inputs), a(u.act), a(u.acts), a(u.output), a(u.outputs);
  members(a, u.dynamics), members(a, u.gains), members(a, u.biases);
  a(u.act_limited), a(u.act_lower), a(u.act_upper), a(u.act_early), a(u.force_limited), a(u.force_lower);
  a(u.force_upper), a(u.length_lower), a(u.length_upper), a(u.acceleration), a(u.disabled);
  a(u.slew), a(u.integral), a(u.temperature), a(u.bristle), a(u.current), a(u.periodic);
}
template <class A> void members(A& a, Turn<double>& t) {
  a(t.fixed.w), a(t.fixed.x), a(t.fixed.y), a(t.fixed.z), a(t.q), a(t.about_z);
}
template <class A> void members(A& a, Sensor<double>& s) {
  a(s.kind), a(s.first), a(s.count), a(s.body), a(s.index), a(s.link), members(a, s.place), members(a, s.reference);
  a(s.relative), a(s.limited), a(s.positive), a(s.cutoff), members(a, s.size), a(s.shape);
  a(s.turn), a(s.reference_turn);
  members(a, s.focal), members(a, s.middle), a(s.geom[0]), a(s.geom[1]), a(s.n_geoms[0]), a(s.n_geoms[1]);
  a(s.by_loops);
}
template <class A> void members(A& a, History<double>& h) {
  a(h.of_sensor), a(h.index), a(h.width), a(h.first), a(h.samples), a(h.order), a(h.is_delayed), a(h.delay);
  a(h.has_interval), a(h.interval);
}
template <class A> void members(A& a, Softness<double>& s) {
  members(a, s.reference), members(a, s.impedance), a(s.power);
}
template <class A> void members(A& a, JointTurn<double>& t) {
  a(t.ball), a(t.q), a(t.zero);
  for (Vec3d& axis : t.axis) members(a, axis);
}
template <class A> void members(A& a, Equality<double>& e) {
  a(e.kind), a(e.active), members(a, e.softness), members(a, e.inverse_inertia);
  members(a, e.place[0]), members(a, e.place[1]), a(e.turn);
  a(e.aligned.w), a(e.aligned.x), a(e.aligned.y), a(e.aligned.z), a(e.torque_scale), a(e.coupled);
  for (int k = 0; k < 2; k++) a(e.link[k]), a(e.q[k]), a(e.v[k]), a(e.tendon[k]);
  members(a, e.zero), members(a, e.coefficient);
}
template <class A> void members(A& a, DryFriction<double>& f) {
  a(f.of_tendon), a(f.index), members(a, f.softness), a(f.inverse_inertia), a(f.loss);
}
template <class A> void members(A& a, Limit<double>& l) {
  a(l.kind), a(l.q), a(l.v), a(l.tendon), members(a, l.softness), a(l.inverse_inertia), a(l.lower), a(l.upper);
  a(l.margin);
}
template <class A> void members(A& a, Geom<double>& g) {
  a(g.type), members(a, g.place), members(a, g.size), a(g.hull), a(g.field);
  members(a, g.surface.w), members(a, g.surface.v), a(g.surface_moves);
}
template <class A> void members(A& a, HullFace<double>& f) {
  a(f.polygon), members(a, f.normal), a(f.companions);
  for (Vec3d& r : f.companion) members(a, r);
}
template <class A> void members(A& a, HullCorner<double>& c) { members(a, c.r), a(c.face); }
template <class A> void members(A& a, HullPolygon<double>& p) { members(a, p.normal), a(p.corner); }
template <class A> void members(A& a, Hull<double>& h) {
  a(h.corner), a(h.polygon), a(h.neighbour), a(h.first_neighbour), a(h.reach);
}
template <class A> void members(A& a, HeightField<double>& f) {
  a(f.rows), a(f.columns), a(f.x), a(f.y), a(f.top), a(f.bottom), a(f.height);
}
template <class A> void members(A& a, ContactPair<double>& p) {
  a(p.geom[0]), a(p.geom[1]), a(p.slots), a(p.dimension), members(a, p.friction), members(a, p.softness);
  members(a, p.friction_reference), members(a, p.inverse_inertia), a(p.margin), a(p.detection);
}
template <class A> void members(A& a, World<double>& w) {
  a(w.constraints.equality), a(w.constraints.friction), a(w.constraints.limit), a(w.constraints.safe_reference);
  a(w.constraints.exact_inertia), a(w.implicit_lengths);
  a(w.nu), a(w.na), a(w.n_outputs), a(w.n_sensordata), a(w.timestep), a(w.integrator), a(w.iterations);
  a(w.implicit_damping);
  a(w.link), a(w.medium.density), a(w.medium.viscosity), members(a, w.medium.wind), a(w.has_medium), a(w.spring);
  a(w.damping), a(w.tendon), a(w.control), a(w.actuator), a(w.compensated), a(w.effort_limited), a(w.effort_lower);
  a(w.effort_upper), a(w.sensor), members(a, w.magnetic), a(w.history), a(w.n_history);
  a(w.contacts.geom), a(w.contacts.hull), a(w.contacts.field), a(w.contacts.pair), a(w.contacts.several);
  a(w.contacts.elliptic), a(w.contacts.impedance_ratio), a(w.no_slip.iterations), a(w.no_slip.tolerance);
}
template <class A> void members(A& a, Model<double>& m) {
  a(m.nb), a(m.nf), a(m.body), a(m.frame), members(a, m.gravity);
  for (auto* numbers : {&m.armature, &m.damping, &m.friction, &m.lower, &m.upper, &m.max_velocity, &m.max_effort})
    a(*numbers);
  a(m.loops.nl), a(m.loops.nc), a(m.loops.loop);
  Coupling<double>& c = m.coupling;
  a(c.nu), a(c.start), a(c.column), a(c.value), a(c.driver), a(c.offset);
  a(m.contacts.nc), a(m.contacts.nr), a(m.contacts.contact), a(m.contacts.sweeps), a(m.contacts.relax);
  members(a, m.world);
}
// The form in which a WorldSource is written.
struct Table {
  std::string name;
  std::vector<double> numbers;
};
struct Source {
  std::vector<std::string> link_names, joint_names;
  std::vector<Table> tables;
};
template <class A> void members(A& a, Table& t) { a(t.name), a(t.numbers); }
template <class A> void members(A& a, Source& s) { a(s.link_names), a(s.joint_names), a(s.tables); }

template <class A> void members(A& a, Robot& r) {
  a(r.name), members(a, r.model);
  for (auto* names : {&r.body_names, &r.joint_names, &r.frame_names, &r.q_names, &r.v_names, &r.notices, &r.odd})
    a(*names);
  a(r.q0), a(r.joint_order);
}

Source written(const WorldSource& source) {
  Source s{source.link_names, source.joint_names, {}};
  for (const auto& [name, numbers] : source.tables.all()) s.tables.push_back({name, numbers});
  return s;
}
// Throws Error if the source's names do not match `robot`.
std::shared_ptr<const WorldSource> source_of(Source& s, const Robot& robot) {
  const auto source = std::make_shared<WorldSource>();
  source->link_names = std::move(s.link_names), source->joint_names = std::move(s.joint_names);
  for (Table& t : s.tables) source->tables.set(t.name, std::move(t.numbers));
  const auto count = [](const auto& names) { return static_cast<int>(names.size()); };
  if (count(source->link_names) != source->tables.integer("nbody") ||
      count(source->joint_names) != source->tables.integer("njnt"))
    throw Error("the bytes of a robot are inconsistent");
  const Places<double> found(robot, WorldTables<double>(source->tables), source->link_names, source->joint_names);
  return source;
}

// True if all indices in the hull's lists are valid.
bool is_whole(const Hull<double>& h) {
  const auto corners = static_cast<int>(h.corner.size()), polygons = static_cast<int>(h.polygon.size());
  const auto all_corners = [&](const std::vector<int>& list) {
    return std::all_of(list.begin(), list.end(), [&](int i) { return i >= 0 && i < corners; });
  };
  bool ok = corners > 0 && static_cast<int>(h.first_neighbour.size()) == corners + 1 && h.first_neighbour[0] == 0 &&
            h.first_neighbour.back() == static_cast<int>(h.neighbour.size()) &&
            std::is_sorted(h.first_neighbour.begin(), h.first_neighbour.end()) && all_corners(h.neighbour);
  for (const HullPolygon<double>& p : h.polygon) ok = ok && p.corner.size() >= 3 && all_corners(p.corner);
  for (int i = 0; ok && i < corners; i++)
    for (const HullFace<double>& f : h.corner[static_cast<std::size_t>(i)].face) {
      ok = ok && f.companions >= 0 && f.companions <= 3 && f.polygon >= 0 && f.polygon < polygons;
      if (!ok) break;
      const std::vector<int>& corner = h.polygon[static_cast<std::size_t>(f.polygon)].corner;
      ok = std::find(corner.begin(), corner.end(), i) != corner.end();
    }
  return ok;
}

// True if all geoms, hulls, height fields and pairs of contacts exist, and pairs have the slots of their shapes.
bool is_whole(const GeomContacts<double>& c, const Model<double>& m) {
  const auto within = [](int i, const auto& v) { return i >= 0 && i < static_cast<int>(v.size()); };
  bool ok = true;
  for (const Geom<double>& g : c.geom)
    ok = ok && g.type <= GeomType::SignedDistance && g.place.body >= 0 && g.place.body <= m.nb &&
         (g.hull == -1 || within(g.hull, c.hull)) && (g.field == -1 || within(g.field, c.field));
  for (const Hull<double>& h : c.hull) ok = ok && is_whole(h);
  for (const HeightField<double>& f : c.field)
    ok = ok && f.rows >= 2 && f.columns >= 2 &&
         static_cast<long>(f.height.size()) == static_cast<long>(f.rows) * f.columns;
  for (const ContactPair<double>& p : c.pair) {
    ok = ok && within(p.geom[0], c.geom) && within(p.geom[1], c.geom);
    if (!ok) break;
    const auto &a = c.geom[static_cast<std::size_t>(p.geom[0])], &b = c.geom[static_cast<std::size_t>(p.geom[1])];
    const bool has_dimension = p.dimension == 1 || p.dimension == 3 || p.dimension == 4 || p.dimension == 6;
    const int slots = slots_of(a.type, b.type, c.several);
    const bool on_field = a.type == GeomType::HeightField;
    ok = has_dimension && p.slots > 0 && (on_field ? p.slots <= slots : p.slots == slots) &&
         (!on_field || a.field >= 0) && (a.type != GeomType::Mesh || a.hull >= 0) &&
         (b.type != GeomType::Mesh || b.hull >= 0);
  }
  return ok;
}

// True if every index of the world is in range.
bool is_whole(const World<double>& w, const Model<double>& m) {
  const auto size = [](const auto& v) { return static_cast<int>(v.size()); };
  const auto within = [](int first, int count, int end) { return first >= 0 && count >= 0 && count <= end - first; };
  const auto placed = [&](const Frame<double>& f) { return f.body >= 0 && f.body <= m.nb; };
  const auto moved = [&](int body) { return body >= 1 && body <= m.nb; };
  const auto each_coordinate = [&](const auto& v) { return v.empty() || size(v) == m.nv; };
  bool ok = w.nu >= 0 && w.na >= 0 && w.n_outputs >= 0 && w.n_sensordata >= 0 && size(w.control) == w.nu;
  ok = ok && w.integrator <= Integrator::Discrete && each_coordinate(w.damping) && each_coordinate(w.compensated) &&
       each_coordinate(w.effort_limited) && each_coordinate(w.effort_lower) && each_coordinate(w.effort_upper);
  for (const WorldLink<double>& l : w.link) {
    ok = ok && placed(l.place) && placed(l.inertial) && l.parent >= 0 && l.parent < size(w.link);
    for (const FluidEllipsoid<double>& e : l.ellipsoid) ok = ok && placed(e.place);
  }
  for (const JointSpring<double>& s : w.spring) ok = ok && moved(s.body);
  for (const Tendon<double>& t : w.tendon)
    for (const TendonPart<double>& p : t.part)
      ok = ok && p.kind <= TendonPartKind::Cylinder && p.passes <= TendonSide::AroundOrInside &&
           within(p.q, p.kind == TendonPartKind::Joint, m.nq) && within(p.v, p.kind == TendonPartKind::Joint, m.nv) &&
           placed(p.place) && placed(p.side);
  for (const Actuator<double>& u : w.actuator)
    ok = ok && u.transmission <= Transmission::So3 && u.activation <= Activation::Pid && u.gain <= Gain::Pid &&
         u.bias <= Bias::So3 && within(u.control, u.controls, w.nu) && within(u.act, u.acts, w.na) &&
         within(u.output, u.outputs, w.n_outputs) && within(u.body, 0, m.nb) && placed(u.site) && placed(u.reference) &&
         (u.transmission != Transmission::Tendon || within(u.tendon, 1, size(w.tendon)));
  for (const Actuator<double>& u : w.actuator)
    for (int k : {u.slew, u.integral, u.temperature, u.bristle, u.current}) ok = ok && k >= -1 && k < w.na;
  for (const Actuator<double>& u : w.actuator)
    for (const int p : u.pair) ok = ok && within(p, 1, size(w.contacts.pair));
  const auto coordinate = [&](int q, int v) { return within(q, 1, m.nq) && within(v, 1, m.nv); };
  const auto tendon = [&](int t) { return within(t, 1, size(w.tendon)); };
  for (const Equality<double>& e : w.constraints.equality) {
    ok = ok && e.kind <= EqualityKind::Tendon && placed(e.place[0]) && placed(e.place[1]);
    for (const JointTurn<double>& t : e.turn) ok = ok && within(t.q, t.ball ? 4 : 1, m.nq);
    for (const int l : e.link) ok = ok && within(l, 1, size(w.link));
    for (int k = 0; k < 1 + e.coupled; k++) {
      if (e.kind == EqualityKind::Joint) ok = ok && coordinate(e.q[k], e.v[k]);
      if (e.kind == EqualityKind::Tendon) ok = ok && tendon(e.tendon[k]);
    }
  }
  for (const DryFriction<double>& f : w.constraints.friction)
    ok = ok && (f.of_tendon ? tendon(f.index) : within(f.index, 1, m.nv));
  for (const Limit<double>& l : w.constraints.limit)
    ok = ok && l.kind <= LimitKind::Tendon &&
         (l.kind == LimitKind::Tendon ? tendon(l.tendon)
          : l.kind == LimitKind::Ball ? within(l.q, 4, m.nq) && within(l.v, 3, m.nv)
                                      : coordinate(l.q, l.v));
  for (const Sensor<double>& s : w.sensor)
    ok = ok && s.kind <= SensorKind::Clock && within(s.first, s.count, w.n_sensordata) && within(s.body, 0, m.nb) &&
         s.index >= 0 && s.index < std::max({size(w.tendon), w.n_outputs, size(w.link), 1}) &&
         within(s.link, 0, size(w.link)) && placed(s.place) && placed(s.reference);
  for (const Sensor<double>& s : w.sensor)
    for (int k = 0; k < 2; k++) ok = ok && within(s.geom[k], s.n_geoms[k], size(w.contacts.geom));
  for (const Sensor<double>& s : w.sensor)
    for (const auto* way : {&s.turn, &s.reference_turn})
      for (const Turn<double>& t : *way) ok = ok && (t.q == -1 || within(t.q, t.about_z ? 1 : 4, m.nq));
  for (const History<double>& h : w.history)
    ok = ok && within(h.first, h.samples, w.n_history) && h.width > 0 && h.width <= w.n_history &&
         within(h.first, h.size(), w.n_history) && within(h.index, h.width, h.of_sensor ? w.n_sensordata : w.nu);
  return ok && is_whole(w.contacts, m);
}

// True if the tree can be numbered: parents come first, and shapes are those of the joints' types.
bool is_tree(const Model<double>& m) {
  bool ok = m.nb >= 0 && static_cast<int>(m.body.size()) == m.nb + 1;
  for (int i = 1; ok && i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    ok = b.parent >= 0 && b.parent < i && joint_size(b.type).nv > 0 &&
         (b.type != JointType::Revolute || b.reversed || b.shape == JointShape::RevoluteTilted ||
          b.shape == JointShape::Revolute);
  }
  return ok;
}

// True if every index is in range, so that no operation reads beyond an array.
bool is_whole(const Robot& r) {
  const Model<double>& m = r.model;
  const auto size = [](const auto& v) { return static_cast<int>(v.size()); };
  const auto all = [](const std::vector<int>& v, int low, int high) {
    return std::all_of(v.begin(), v.end(), [=](int x) { return x >= low && x < high; });
  };
  const auto body = [&](int i) { return i >= 0 && i <= m.nb; };
  bool ok = size(m.frame) == m.nf;
  for (const auto* v : {&m.armature, &m.damping, &m.friction, &m.lower, &m.upper, &m.max_velocity, &m.max_effort})
    ok = ok && size(*v) == m.nv;
  for (const Frame<double>& f : m.frame) ok = ok && body(f.body);
  ok = ok && size(m.loops.loop) == m.loops.nl && size(m.contacts.contact) == m.contacts.nc &&
       m.contacts.nr == 3 * m.contacts.nc;
  for (const Loop<double>& l : m.loops.loop)
    ok = ok && body(l.p) && body(l.s) && l.row >= 0 && l.row < std::max(m.loops.nc, 1);
  for (const Contact<double>& c : m.contacts.contact) ok = ok && body(c.p) && body(c.s);
  const Coupling<double>& c = m.coupling;
  if (c.nu > 0)
    ok = ok && size(c.start) == m.nv + 1 && all(c.start, 0, size(c.column) + 1) && all(c.column, 0, c.nu) &&
         size(c.value) == size(c.column) && size(c.driver) == c.nu && all(c.driver, 0, m.nv) && size(c.offset) == m.nv;
  ok = ok && is_whole(m.world, m);
  return ok && size(r.q0) == m.nq && size(r.body_names) == m.nb + 1 && size(r.joint_names) == m.nb &&
         size(r.frame_names) == m.nf && size(r.q_names) == m.nq && size(r.v_names) == m.nv &&
         all(r.joint_order, 1, m.nb + 1);
}

}  // namespace

std::string robot_bytes(const Robot& robot) {
  if (!robot.model.user.empty())
    throw Error("robot '" + robot.name +
                "' has user-defined joints, which are functions of this process and cannot be written as bytes");
  Writer w;
  members(w, const_cast<Robot&>(robot));
  std::vector<Source> sources;
  if (robot.source) sources.push_back(written(*robot.source));
  w(sources);
  return std::move(w.bytes);
}

Robot robot_of_bytes(std::string_view bytes) {
  Reader reader(bytes);
  Robot r;
  members(reader, r);
  std::vector<Source> sources;
  reader(sources);
  const bool read = reader.at_end() && sources.size() <= 1 && is_tree(r.model);
  if (read) number_coordinates(r.model);
  if (!read || !is_whole(r)) throw Error("the bytes of a robot are inconsistent");
  if (!sources.empty()) r.source = source_of(sources[0], r);
  return r;
}

}  // namespace featherstorm
