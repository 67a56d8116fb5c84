#include "host/trace/parameters.h"

#include <algorithm>

#include "host/system/error.h"
#include "host/table/row/shape.h"
#include "host/world/world_inputs.h"

namespace featherstorm {
namespace {

using Links = std::vector<Placement<double>>;  // the link of each body in the body's frame
using Numbers = std::vector<double>;

void append(Numbers& all, const Vec3<double>& v) {
  for (const double x : {v.x(), v.y(), v.z()}) all.push_back(x);
}
template <class T> Vec3<T> vector3(const std::vector<T>& all, int k) { return {all[k], all[k + 1], all[k + 2]}; }

// Mass, centre of mass and rotational inertia about it.
template <class P> struct MassAndShape {
  P m;
  Vec3<P> c;
  Sym3<P> I;
};

// Mass, centre and inertia of a body in the axes of its link, which is at X in the body's frame. Without mass the
// centre is the origin.
MassAndShape<double> in_link(const RigidBodyInertia<double>& J, const Placement<double>& X) {
  const Vec3<double> c = J.m == 0 ? Vec3<double>(0, 0, 0) : Vec3<double>(J.h * (1 / J.m));
  const Sym3<double> o = rigid_body_inertia(J.m, c, Sym3<double>{0, 0, 0, 0, 0, 0}).I, &I = J.I;
  const Sym3<double> Ic{I.xx - o.xx, I.xy - o.xy, I.xz - o.xz, I.yy - o.yy, I.yz - o.yz, I.zz - o.zz};
  return {J.m, transpose_times(X.R, c - X.r), conjugate(transposed(X.R), Ic)};
}
RigidBodyInertia<Expr> in_body(const MassAndShape<Expr>& a, const Placement<double>& X) {
  const Placement<Expr> L = cast<Expr>(X);
  return rigid_body_inertia(a.m, L.r + L.R * a.c, conjugate(L.R, a.I));
}

// The placement of body i in its parent at q = 0.
Placement<double> at_rest(const Model<double>& m, int i) {
  const Body<double>& b = m.body[i];
  return {b.X_T.R * matrix(b.zero), b.X_T.r};
}

struct Description {
  std::string_view name;
  Shape shape;
  Numbers (*read)(const Model<double>&, const Links&);
};
constexpr Description descriptions[] = {
    {"gravity",
     {3},
     [](const Model<double>& m, const Links&) {
       Numbers all;
       append(all, m.gravity);
       return all;
     }},
    {"mass",
     {nb},
     [](const Model<double>& m, const Links&) {
       Numbers all;
       for (int i = 1; i <= m.nb; i++) all.push_back(m.body[i].I.m);
       return all;
     }},
    {"com",
     {nb, 3},
     [](const Model<double>& m, const Links& link) {
       Numbers all;
       for (int i = 1; i <= m.nb; i++) append(all, in_link(m.body[i].I, link[i]).c);
       return all;
     }},
    {"inertia",
     {nb, 6},
     [](const Model<double>& m, const Links& link) {
       Numbers all;
       for (int i = 1; i <= m.nb; i++) {
         const Sym3<double> I = in_link(m.body[i].I, link[i]).I;
         all.insert(all.end(), {I.xx, I.xy, I.xz, I.yy, I.yz, I.zz});
       }
       return all;
     }},
    {"position",
     {nb, 3},
     [](const Model<double>& m, const Links& link) {
       Numbers all;
       for (int i = 1; i <= m.nb; i++) append(all, (inverse(link[m.body[i].parent]) * at_rest(m, i) * link[i]).r);
       return all;
     }},
    {"armature", {nv}, [](const Model<double>& m, const Links&) { return m.armature; }},
    {"damping", {nv}, [](const Model<double>& m, const Links&) { return m.damping; }},
    {"friction", {nv}, [](const Model<double>& m, const Links&) { return m.friction; }},
    {"lower", {nv}, [](const Model<double>& m, const Links&) { return m.lower; }},
    {"upper", {nv}, [](const Model<double>& m, const Links&) { return m.upper; }},
    {"max_effort", {nv}, [](const Model<double>& m, const Links&) { return m.max_effort; }},
};

const Description& description(std::string_view name) {
  std::string known;
  for (const Description& d : descriptions) {
    if (d.name == name) return d;
    known += (known.empty() ? "" : ", ") + std::string(d.name);
  }
  throw Error("a robot has no parameter '" + std::string(name) + "'; there are: " + known);
}

// A table of the robot's model file; null if the name is unknown or the table is empty.
const WorldInput* table_of(const Robot& robot, std::string_view name) {
  return robot.source && robot.source->tables.size(table_name(name)) > 0 ? world_input(name) : nullptr;
}

// The frame that is the link of each body; -1 if there is none.
std::vector<int> link_frames(const Robot& robot) {
  std::vector<int> all;
  for (const std::string& name : robot.body_names) all.push_back(robot.frame(name));
  return all;
}
Links links_of(const Model<double>& m, const std::vector<int>& frames) {
  Links all;
  for (int f : frames) all.push_back(f < 0 ? identity_placement<double>() : m.frame[f].X);
  return all;
}

}  // namespace

std::vector<int> parameter_shape(const Robot& robot, std::string_view name) {
  if (const WorldInput* w = table_of(robot, name)) {
    const int rows = robot.source->tables.size(table_name(name)) / w->width;
    return w->width == 1 ? std::vector<int>{rows} : std::vector<int>{rows, w->width};
  }
  return shape_of(robot.model, description(name).shape);
}

Parameters::Parameters(const Robot& robot, const std::vector<std::string>& names) : link_(link_frames(robot)) {
  for (const std::string& name : names) {
    for (const Array& a : arrays_)
      if (a.name == name) throw Error("parameter '" + name + "' is given twice");
    if (const WorldInput* w = table_of(robot, name)) {
      arrays_.push_back({w->name, robot.source->tables.size(table_name(name)), parameter_shape(robot, name)});
      if (!robot_) robot_ = std::make_shared<const Robot>(robot);
      continue;
    }
    const Description& d = description(name);
    arrays_.push_back({d.name, size_of(robot.model, d.shape), shape_of(robot.model, d.shape)});
  }
}

Model<Expr> Parameters::apply(const Model<double>& m, const std::vector<std::vector<Expr>>& values) const {
  Model<Expr> r = cast<Expr>(m);
  if (robot_) set_world_inputs(r, m, *robot_, tables(values));
  const Links link = links_of(m, link_);
  const auto given = [&](std::string_view name) -> const std::vector<Expr>* {
    for (std::size_t k = 0; k < arrays_.size(); k++)
      if (arrays_[k].name == name) return &values.at(k);
    return nullptr;
  };
  if (const auto* g = given("gravity")) r.gravity = vector3(*g, 0);
  if (const auto* x = given("armature")) {
    r.armature = *x;
    for (int i = 1; i <= r.nb; i++) r.body[i].rotor = true;
  }
  if (const auto* x = given("damping")) r.damping = *x;
  if (const auto* x = given("friction")) r.friction = *x;
  if (const auto* x = given("lower")) r.lower = *x;
  if (const auto* x = given("upper")) r.upper = *x;
  if (const auto* x = given("max_effort")) r.max_effort = *x;
  if (const auto* x = given("position"))
    for (int i = 1; i <= m.nb; i++) {
      const Placement<Expr> parent = cast<Expr>(link[m.body[i].parent]);
      const Vec3<double> offset = at_rest(m, i).R * link[i].r;
      r.body[i].X_T.r = parent.r + parent.R * vector3(*x, 3 * (i - 1)) - cast<Expr>(offset);
    }
  const auto *mass = given("mass"), *com = given("com"), *inertia = given("inertia");
  for (int i = 1; (mass || com || inertia) && i <= m.nb; i++) {
    const MassAndShape<double> own = in_link(m.body[i].I, link[i]);
    MassAndShape<Expr> a{Expr(own.m), cast<Expr>(own.c), cast<Expr>(own.I)};
    const int k = i - 1;
    if (mass) a.m = (*mass)[k];
    if (com) a.c = vector3(*com, 3 * k);
    if (inertia) {
      const Expr* x = inertia->data() + 6 * k;
      a.I = {x[0], x[1], x[2], x[3], x[4], x[5]};
    }
    r.body[i].I = in_body(a, link[i]);
    r.body[i].second_moments = second_moments(r.body[i].I.I);
  }
  return r;
}

std::map<std::string, std::vector<Expr>, std::less<>> Parameters::tables(
    const std::vector<std::vector<Expr>>& values) const {
  std::map<std::string, std::vector<Expr>, std::less<>> given;
  for (std::size_t k = 0; k < arrays_.size(); k++)
    if (world_input(arrays_[k].name)) given.emplace(table_name(arrays_[k].name), values.at(k));
  return given;
}

std::vector<Expr> Parameters::equality_weights(const std::vector<std::vector<Expr>>& values) const {
  return robot_ ? featherstorm::equality_weights(*robot_, tables(values)) : std::vector<Expr>{};
}

std::vector<double> parameter_values(const Robot& robot, std::string_view name) {
  if (table_of(robot, name)) {
    const std::string table = table_name(name);
    const auto numbers = robot.source->tables.row(table, 0, robot.source->tables.size(table));
    return {numbers.begin(), numbers.end()};
  }
  return description(name).read(robot.model, links_of(robot.model, link_frames(robot)));
}

bool is_parameter(std::string_view name) {
  const auto& names = parameter_names();
  return world_input(name) || std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string_view>& parameter_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Description& d : descriptions) all.push_back(d.name);
    return all;
  }();
  return names;
}

}  // namespace featherstorm
