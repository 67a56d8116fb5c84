// Geoms of a compiled MuJoCo model, and how pairs of them touch.
#include <algorithm>
#include <array>
#include <map>

#include "core/collision/candidates.h"
#include "host/world/element_name.h"
#include "host/world/geom_pairs.h"
#include "host/world/softness_of.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_constraints = 1 << 0, no_contacts = 1 << 4;     // mjtDisableBit
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
std::string unsupported(const MujocoTables& t, const GeomPair& f, const Touch& touch, const GeomType (&type)[2]) {
  std::string shapes =
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

ContactPair<double> pair_of(const MujocoTables& t, const GeomPair& f, const Touch& touch) {
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
  for (const GeomPair& f : geom_pairs(t, c.geom)) {
    Touch touch = f.named < 0 ? touch_of_geoms(t, f.geom[0], f.geom[1]) : touch_of_pair(t, f.named);
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
