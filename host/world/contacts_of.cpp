// Geoms of a compiled MuJoCo model, and the pairs of them that may touch, in the order of MuJoCo's contacts.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/collision/candidates.h"
#include "host/world/element_name.h"
#include "host/world/softness_of.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_constraints = 1 << 0, no_contacts = 1 << 4, no_parent_filter = 1 << 10,
              no_midphase = 1 << 14;                             // mjtDisableBit
constexpr int override_contacts = 1 << 0, speculative = 1 << 7;  // mjtEnableBit
constexpr int pyramidal = 0, elliptic = 1;                       // mjtCone
constexpr double least_friction = 1e-5, least_mix = 1e-15;       // mjMINMU, mjMINVAL
const char* const shape_names[] = {"plane", "height field",         "sphere", "capsule", "ellipsoid", "cylinder", "box",
                                   "mesh",  "signed distance field"};

std::string geom_name(const MujocoTables& t, int i) { return element_name(t, "geom", "name_geomadr", i); }

// How two geoms touch.
struct Touch {
  int dimension = 3;
  double friction[5] = {}, friction_reference[2] = {}, margin = 0, gap = 0, adhesion = 0;
  Softness<double> softness;
};

// Weight of the first of two geoms where their softness is mixed.
double mix_of(double first, double second) {
  const bool has_first = first >= least_mix, has_second = second >= least_mix;
  if (has_first && has_second) return first / (first + second);
  return has_first == has_second ? 0.5 : has_first ? 1 : 0;
}

// Of two geoms: those of the one with priority, else the greater dimension and friction, and a mixture.
Touch touch_of_geoms(const MujocoTables& t, int g, int h) {
  Touch r;
  r.margin = t.real("geom_margin", g) + t.real("geom_margin", h);
  r.gap = t.real("geom_gap", g) + t.real("geom_gap", h);
  const int priority = t.integer("geom_priority", g) - t.integer("geom_priority", h);
  if (priority < 0) std::swap(g, h);
  const bool one = priority != 0;
  if (one) h = g;
  r.dimension = std::max(t.integer("geom_condim", g), t.integer("geom_condim", h));
  r.adhesion = t.real("geom_adhesion", g) + (one ? 0 : t.real("geom_adhesion", h));
  const auto friction_g = t.row("geom_friction", g, 3), friction_h = t.row("geom_friction", h, 3);
  constexpr std::size_t kind[] = {0, 0, 1, 2, 2};
  for (int k = 0; k < 5; k++) r.friction[k] = std::max(friction_g[kind[k]], friction_h[kind[k]]);
  const double mix = one ? 1 : mix_of(t.real("geom_solmix", g), t.real("geom_solmix", h));
  const auto reference_g = t.row("geom_solref", g, 2), reference_h = t.row("geom_solref", h, 2);
  const bool standard = reference_g[0] > 0 && reference_h[0] > 0;
  std::array<double, 2> reference;
  for (std::size_t k = 0; k < 2; k++)
    reference[k] = one        ? reference_g[k]
                   : standard ? mix * reference_g[k] + (1 - mix) * reference_h[k]
                              : std::min(reference_g[k], reference_h[k]);
  const auto impedance_g = t.row("geom_solimp", g, 5), impedance_h = t.row("geom_solimp", h, 5);
  std::array<double, 5> impedance;
  for (std::size_t k = 0; k < 5; k++)
    impedance[k] = one ? impedance_g[k] : mix * impedance_g[k] + (1 - mix) * impedance_h[k];
  r.softness = softness_of(reference, impedance);
  std::copy(reference.begin(), reference.end(), r.friction_reference);
  return r;
}

// Of a <pair>.
Touch touch_of_pair(const MujocoTables& t, int i) {
  Touch r;
  r.dimension = t.integer("pair_dim", i);
  r.margin = t.real("pair_margin", i), r.gap = t.real("pair_gap", i), r.adhesion = t.real("pair_adhesion", i);
  const auto friction = t.row("pair_friction", i, 5);
  std::copy(friction.begin(), friction.end(), r.friction);
  r.softness = softness_of(t.row("pair_solref", i, 2), t.row("pair_solimp", i, 5));
  // zeros, and what is of neither form, ask for that of the normal
  const auto of_pair = t.row("pair_solreffriction", i, 2);
  const bool standard = of_pair[0] > 0 && of_pair[1] > 0;
  const bool direct = of_pair[0] <= 0 && of_pair[1] <= 0 && (of_pair[0] != 0 || of_pair[1] != 0);
  const auto reference = standard || direct ? of_pair : t.row("pair_solref", i, 2);
  std::copy(reference.begin(), reference.end(), r.friction_reference);
  return r;
}

// What the flag override asks for, in all pairs.
void replace(Touch& r, const MujocoTables& t) {
  r.margin = t.real("opt.o_margin");
  const auto reference = t.row("opt.o_solref", 0, 2), friction = t.row("opt.o_friction", 0, 5);
  r.softness = softness_of(reference, t.row("opt.o_solimp", 0, 5));
  std::copy(reference.begin(), reference.end(), r.friction_reference);
  std::copy(friction.begin(), friction.end(), r.friction);
}

// The convex hull of a mesh as MuJoCo has it: polygons and the corners that they have.
Hull<double> hull_of(const MujocoTables& t, int mesh) {
  const int first = t.integer("mesh_vertadr", mesh), polygons = t.integer("mesh_polyadr", mesh);
  const auto at = [](std::span<const double> r) { return Vec3d{r[0], r[1], r[2]}; };
  std::vector<HullCorner<double>> corner(static_cast<std::size_t>(t.integer("mesh_vertnum", mesh)));
  for (int p = polygons; p < polygons + t.integer("mesh_polynum", mesh); p++) {
    const Vec3d normal = at(t.row("mesh_polynormal", p, 3));
    std::vector<int> vertex;
    std::vector<Vec3d> polygon;
    for (int k = 0; k < t.integer("mesh_polyvertnum", p); k++) {
      vertex.push_back(t.integer("mesh_polyvert", t.integer("mesh_polyvertadr", p) + k));
      polygon.push_back(at(t.row("mesh_vert", first + vertex.back(), 3)));
    }
    for (std::size_t k = 0; k < vertex.size(); k++) {
      HullCorner<double>& c = corner.at(static_cast<std::size_t>(vertex[k]));
      c.r = polygon[k];
      c.face.push_back(face_beside(polygon, static_cast<int>(k), normal));
    }
  }
  std::erase_if(corner, [](const HullCorner<double>& c) { return c.face.empty(); });
  return {corner};
}

// Which bodies may touch: neither welded together, nor parent and child, nor excluded.
class BodyFilter {
 public:
  explicit BodyFilter(const MujocoTables& t) : t_(t) {
    with_parents_ = (t.integer("opt.disableflags") & no_parent_filter) != 0;
    for (int i = 0; i < t.integer("nexclude"); i++) excluded_.insert(t.integer("exclude_signature", i));
  }
  // a < b
  bool allows(int a, int b) const {
    const int weld_a = t_.integer("body_weldid", a), weld_b = t_.integer("body_weldid", b);
    if (weld_a == weld_b || excluded_.count((a << 16) + b) > 0) return false;
    const bool related = weld_a == parent(weld_b) || weld_b == parent(weld_a);
    return with_parents_ || weld_a == 0 || weld_b == 0 || !related;
  }

 private:
  int parent(int weld) const { return t_.integer("body_weldid", t_.integer("body_parentid", weld)); }
  const MujocoTables& t_;
  bool with_parents_;
  std::set<int> excluded_;
};

// Two geoms that may touch, and their place in MuJoCo's order: by bodies, within them those of <pair> first.
struct Found {
  std::array<int, 5> order{};
  int geom[2] = {};
  int pair = -1;  // of <pair>
};

class Finder {
 public:
  Finder(const MujocoTables& t, const std::vector<Geom<double>>& geoms) : t_(t), geom_(geoms) {}

  std::vector<Found> find() {
    std::set<std::array<int, 2>> named;
    for (int i = 0; i < t_.integer("npair"); i++) {
      const int g = t_.integer("pair_geom1", i), h = t_.integer("pair_geom2", i);
      named.insert({std::min(g, h), std::max(g, h)});
      const int a = body(g), b = body(h);
      add(g, h, {std::min(a, b), std::max(a, b), 0, i, 0}, i);
    }
    const BodyFilter filter(t_);
    const int bodies = t_.integer("nbody");
    for (int a = 0; a < bodies; a++)
      for (int b = a + 1; b < bodies; b++)
        if (filter.allows(a, b)) add_of_bodies(a, b, named);
    std::sort(found_.begin(), found_.end(), [](const Found& x, const Found& y) { return x.order < y.order; });
    return std::move(found_);
  }

 private:
  int body(int g) const { return t_.integer("geom_bodyid", g); }
  GeomType type(int g) const { return geom_[static_cast<std::size_t>(g)].type; }

  // Geoms that never move against each other do not touch.
  void add(int g, int h, const std::array<int, 5>& order, int pair) {
    if (geom_[static_cast<std::size_t>(g)].place.body == geom_[static_cast<std::size_t>(h)].place.body) return;
    if (type(g) > type(h)) std::swap(g, h);
    found_.push_back({order, {g, h}, pair});
  }
  void add_of_bodies(int a, int b, const std::set<std::array<int, 2>>& named) {
    const int first_a = t_.integer("body_geomadr", a), n_a = t_.integer("body_geomnum", a);
    const int first_b = t_.integer("body_geomadr", b), n_b = t_.integer("body_geomnum", b);
    // bodies of several geoms go through a tree of boxes, behind which contacts are sorted by geom 1, 2
    const bool sorted = (n_a > 1 || n_b > 1) && (t_.integer("opt.disableflags") & no_midphase) == 0 &&
                        t_.integer("body_bvhadr", a) >= 0 && t_.integer("body_bvhadr", b) >= 0;
    for (int g = first_a; g < first_a + n_a; g++) {
      for (int h = first_b; h < first_b + n_b; h++) {
        const int g_meets = t_.integer("geom_contype", g) & t_.integer("geom_conaffinity", h);
        const int h_meets = t_.integer("geom_contype", h) & t_.integer("geom_conaffinity", g);
        if ((g_meets == 0 && h_meets == 0) || named.count({std::min(g, h), std::max(g, h)}) > 0) continue;
        const bool swapped = sorted && type(g) > type(h);
        add(g, h, {a, b, 1, swapped ? h : g, swapped ? g : h}, -1);
      }
    }
  }

  const MujocoTables& t_;
  const std::vector<Geom<double>>& geom_;
  std::vector<Found> found_;
};

// Pairs without contacts here that have some in MuJoCo.
class LeftOut {
 public:
  void add(const std::string& what, const MujocoTables& t, const int (&geom)[2]) {
    Kind& kind = kinds_[what];
    if (kind.count++ == 0) kind.first = geom_name(t, geom[0]) + " and " + geom_name(t, geom[1]);
    total_++;
  }
  std::string notice() const {
    if (total_ == 0) return {};
    std::string all;
    for (const auto& [what, kind] : kinds_)
      all += (all.empty() ? "" : ", ") + std::to_string(kind.count) + " of " + what + " (" + kind.first + ")";
    return "contacts of " + std::to_string(total_) + (total_ == 1 ? " pair" : " pairs") +
           " of geoms are left out: " + all;
  }

 private:
  struct Kind {
    int count = 0;
    std::string first;
  };
  std::map<std::string, Kind> kinds_;
  int total_ = 0;
};

// Why a pair has no contacts here; empty where it has.
std::string unsupported(const MujocoTables& t, const Found& f, const Touch& touch, const GeomType (&type)[2]) {
  const std::string shapes =
      std::string(shape_names[static_cast<int>(type[0])]) + " with " + shape_names[static_cast<int>(type[1])];
  if (slots_of(type[0], type[1]) == 0) return shapes;
  for (int k = 0; k < 2; k++) {
    if (type[k] == GeomType::Mesh && t.integer("mesh_polynum", t.integer("geom_dataid", f.geom[k])) == 0)
      return shapes + " without a hull";
    const auto velocity = t.row("geom_surfacevel", f.geom[k], 6);
    if (std::any_of(velocity.begin(), velocity.end(), [](double x) { return x != 0; }))
      return shapes + " with a surface velocity";
  }
  return touch.adhesion != 0 ? shapes + " with adhesion" : "";
}

Geom<double> geom_of(const MujocoTables& t, const Places& places, int i) {
  const int type = t.integer("geom_type", i);
  if (type < 0 || type >= static_cast<int>(std::size(shape_names)))
    throw Error(geom_name(t, i) + ": shape " + std::to_string(type) + " is not supported");
  const auto size = t.row("geom_size", i, 3);
  return {static_cast<GeomType>(type), places.geom(i), {size[0], size[1], size[2]}};
}

ContactPair<double> pair_of(const MujocoTables& t, const Found& f, const Touch& touch) {
  ContactPair<double> p;
  p.dimension = touch.dimension;
  if (p.dimension != 1 && p.dimension != 3 && p.dimension != 4 && p.dimension != 6)
    throw Error(geom_name(t, f.geom[0]) + " and " + geom_name(t, f.geom[1]) + ": condim is " +
                std::to_string(p.dimension) + ", expected 1, 3, 4 or 6");
  for (int k = 0; k < 5; k++) p.friction[k] = std::max(touch.friction[k], least_friction);
  p.softness = touch.softness;
  p.margin = touch.margin, p.detection = touch.margin + touch.gap;
  // numbers of different signs have no meaning, and zeros stand for nothing given
  const double* own = touch.friction_reference;
  const bool has_own = (own[0] > 0) == (own[1] > 0) && (own[0] != 0 || own[1] != 0);
  for (int k = 0; k < 2; k++) {
    p.geom[k] = f.geom[k];
    p.friction_reference[k] = has_own ? own[k] : touch.softness.reference[k];
    const auto inverse = t.row("body_invweight0", t.integer("geom_bodyid", f.geom[k]), 2);
    for (std::size_t i = 0; i < 2; i++) p.inverse_inertia[i] += inverse[i];
  }
  return p;
}

}  // namespace

std::string add_contacts(World<double>& world, const MujocoTables& t, const Places& places) {
  GeomContacts<double>& c = world.contacts;
  const int off = t.integer("opt.disableflags"), on = t.integer("opt.enableflags"), cone = t.integer("opt.cone");
  for (int i = 0; i < t.integer("ngeom"); i++) c.geom.push_back(geom_of(t, places, i));
  if (cone != pyramidal && cone != elliptic) throw Error("option cone: " + std::to_string(cone) + " is not supported");
  c.elliptic = cone == elliptic;
  c.impedance_ratio = t.real("opt.impratio");
  if (!(c.impedance_ratio > 0))
    throw Error("option impratio: " + std::to_string(c.impedance_ratio) + ", expected a positive number");
  if (off & (no_constraints | no_contacts)) return {};
  if (on & speculative) throw Error("flag speculative: speculative contacts are not supported");

  LeftOut left_out;
  std::map<int, int> hulls;  // of meshes
  for (const Found& f : Finder(t, c.geom).find()) {
    Touch touch = f.pair < 0 ? touch_of_geoms(t, f.geom[0], f.geom[1]) : touch_of_pair(t, f.pair);
    if (on & override_contacts) replace(touch, t);
    Geom<double>& second = c.geom[static_cast<std::size_t>(f.geom[1])];
    const GeomType type[] = {c.geom[static_cast<std::size_t>(f.geom[0])].type, second.type};
    const std::string why = unsupported(t, f, touch, type);
    if (!why.empty()) {
      left_out.add(why, t, f.geom);
      continue;
    }
    if (second.type == GeomType::Mesh) {
      const int mesh = t.integer("geom_dataid", f.geom[1]);
      const auto [at, is_new] = hulls.try_emplace(mesh, static_cast<int>(c.hull.size()));
      if (is_new) c.hull.push_back(hull_of(t, mesh));
      second.hull = at->second;
    }
    c.pair.push_back(pair_of(t, f, touch));
    c.pair.back().slots = slots_of(type[0], type[1]);
  }
  return left_out.notice();
}

}  // namespace featherstorm
