#include "host/load/robot_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/model/joints.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr std::string_view mark = "featherstorm robot " FEATHERSTORM_VERSION " 1\n";

// One list of members serves both ways: `archive(x)` appends x to the bytes, or reads it from them.
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

 private:
  void count(std::size_t n) { (*this)(static_cast<std::uint64_t>(n)); }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {
    if (!left_.starts_with(mark))
      throw Error("these bytes are no robot of this version of featherstorm, " FEATHERSTORM_VERSION);
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
    all.resize(count(1));  // an element has a byte at least
    for (Element& x : all) members(*this, x);
  }
  bool at_end() const { return left_.empty(); }

 private:
  const char* take(std::size_t n) {
    if (n > left_.size()) throw Error("the bytes of a robot end too soon");
    const char* at = left_.data();
    left_.remove_prefix(n);
    return at;
  }
  std::size_t count(std::size_t least) {
    std::uint64_t n = 0;
    (*this)(n);
    if (n * least > left_.size() || n > left_.size()) throw Error("the bytes of a robot end too soon");
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
  a(b.parent), a(b.type), a(b.shape), a(b.reversed), a(b.q), a(b.v), a(b.x), a(b.user), a(b.rotor), a(b.parameter);
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
template <class A> void members(A& a, Model<double>& m) {
  a(m.nb), a(m.nq), a(m.nv), a(m.nx), a(m.nh), a(m.nf), a(m.body), a(m.frame), members(a, m.gravity);
  for (auto* numbers : {&m.armature, &m.damping, &m.friction, &m.lower, &m.upper, &m.max_velocity, &m.max_effort})
    a(*numbers);
  for (auto* indices : {&m.dof_q, &m.dof_body, &m.dof_parent, &m.depth, &m.row_start, &m.column}) a(*indices);
  a(m.loops.nl), a(m.loops.nc), a(m.loops.loop);
  Coupling<double>& c = m.coupling;
  a(c.nu), a(c.start), a(c.column), a(c.value), a(c.driver), a(c.offset);
  a(m.contacts.nc), a(m.contacts.nr), a(m.contacts.contact), a(m.contacts.sweeps), a(m.contacts.relax);
}
template <class A> void members(A& a, Robot& r) {
  a(r.name), members(a, r.model);
  for (auto* names : {&r.body_names, &r.joint_names, &r.frame_names, &r.q_names, &r.v_names, &r.notices, &r.odd})
    a(*names);
  a(r.q0), a(r.joint_order);
}

// Whether every index lies where it points to, so that no map reads beyond an array.
bool is_whole(const Robot& r) {
  const Model<double>& m = r.model;
  const auto size = [](const auto& v) { return static_cast<int>(v.size()); };
  const auto all = [](const std::vector<int>& v, int low, int high) {
    return std::all_of(v.begin(), v.end(), [=](int x) { return x >= low && x < high; });
  };
  const auto body = [&](int i) { return i >= 0 && i <= m.nb; };
  bool ok = m.nb >= 0 && size(m.body) == m.nb + 1 && size(m.frame) == m.nf && size(m.column) == m.nh;
  for (const auto* v : {&m.armature, &m.damping, &m.friction, &m.lower, &m.upper, &m.max_velocity, &m.max_effort})
    ok = ok && size(*v) == m.nv;
  for (const auto* v : {&m.dof_q, &m.dof_body, &m.dof_parent, &m.depth}) ok = ok && size(*v) == m.nv;
  ok = ok && size(m.row_start) == m.nv + 1 && all(m.dof_q, -1, m.nq) && all(m.dof_body, 1, m.nb + 1);
  ok = ok && all(m.dof_parent, -1, m.nv) && all(m.depth, 0, m.nv) && all(m.row_start, 0, m.nh + 1) &&
       all(m.column, 0, m.nv);
  for (int i = 1; ok && i <= m.nb; i++) {
    const Body<double>& b = m.body[i];
    ok = b.parent >= 0 && b.parent < i && joint_size(b.type).nv > 0 && b.q >= 0 && b.q < m.nq && b.v >= 0 &&
         b.v < m.nv && b.x >= 0 && b.x <= m.nx && b.shape >= JointShape::RevoluteTilted &&
         b.shape <= JointShape::General6;
  }
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
  return ok && size(r.q0) == m.nq && size(r.body_names) == m.nb + 1 && size(r.joint_names) == m.nb &&
         size(r.frame_names) == m.nf && size(r.q_names) == m.nq && size(r.v_names) == m.nv &&
         all(r.joint_order, 1, m.nb + 1);
}

}  // namespace

std::string robot_bytes(const Robot& robot) {
  if (!robot.model.user.empty())
    throw Error("robot '" + robot.name +
                "' has user-defined joints, which are functions of this process: it has no bytes");
  Writer w;
  members(w, const_cast<Robot&>(robot));
  return std::move(w.bytes);
}

Robot robot_of_bytes(std::string_view bytes) {
  Reader reader(bytes);
  Robot r;
  members(reader, r);
  if (!reader.at_end() || !is_whole(r)) throw Error("the bytes of a robot do not fit together");
  return r;
}

}  // namespace featherstorm
