// Reads the geoms of a compiled MuJoCo model and the contact parameters of their pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/collision/candidates.h"
#include "core/trace/expr.h"
#include "host/system/interruption.h"
#include "host/world/element_name.h"
#include "host/world/geom_pairs.h"
#include "host/world/softness_of.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_constraints = 1 << 0, no_contacts = 1 << 4, no_native = 1 << 17,
              no_several = 1 << 19;                              // mjtDisableBit
constexpr int override_contacts = 1 << 0, speculative = 1 << 7;  // mjtEnableBit
constexpr int pyramidal = 0, elliptic = 1;                       // mjtCone
constexpr double least_friction = 1e-5, least_mix = 1e-15;       // mjMINMU, mjMINVAL
const char* const shape_names[] = {"plane", "height field",         "sphere", "capsule", "ellipsoid", "cylinder", "box",
                                   "mesh",  "signed distance field"};

std::string geom_name(const MujocoTables& t, int i) { return element_name(t, "geom", "name_geomadr", i); }

// Contact parameters of two geoms.
template <class T> struct Touch {
  int dimension = 3;
  T friction[5] = {}, friction_reference[2] = {}, margin{}, gap{};
  double adhesion = 0;
  Softness<T> softness;
};

// Weight of the first of two geoms in the mixture of their softness.
template <class T> T mix_of(const T& first, const T& second) {
  const T least(least_mix), zero(0.0), one(1.0);
  const auto no_first = first < least, no_second = second < least;
  const T share = first / (select(no_first, one, first) + select(no_second, one, second));
  return select(no_first, select(no_second, T(0.5), zero), select(no_second, one, share));
}

// Parameters for two geoms: those of the geom with higher priority; for equal priority the greater dimension and
// friction, and a mixture of the rest.
template <class T> Touch<T> touch_of_geoms(const WorldTables<T>& t, int g, int h) {
  Touch<T> r;
  r.margin = t.real("geom_margin", g) + t.real("geom_margin", h);
  r.gap = t.real("geom_gap", g) + t.real("geom_gap", h);
  const int priority = t.integer("geom_priority", g) - t.integer("geom_priority", h);
  if (priority < 0) std::swap(g, h);
  const bool one = priority != 0;
  if (one) h = g;
  r.dimension = std::max(t.integer("geom_condim", g), t.integer("geom_condim", h));
  r.adhesion = t.row("geom_adhesion", g)[0] + (one ? 0 : t.row("geom_adhesion", h)[0]);
  const auto friction_g = t.numbers("geom_friction", g, 3), friction_h = t.numbers("geom_friction", h, 3);
  constexpr std::size_t kind[] = {0, 0, 1, 2, 2};
  for (int k = 0; k < 5; k++) r.friction[k] = max(friction_g[kind[k]], friction_h[kind[k]]);
  const T unit(1.0), mix = one ? unit : mix_of(t.real("geom_solmix", g), t.real("geom_solmix", h));
  const auto reference_g = t.numbers("geom_solref", g, 2), reference_h = t.numbers("geom_solref", h, 2);
  const auto standard = T(0.0) < reference_g[0] && T(0.0) < reference_h[0];
  std::vector<T> reference = reference_g;
  for (std::size_t k = 0; k < 2 && !one; k++)
    reference[k] =
        select(standard, mix * reference_g[k] + (unit - mix) * reference_h[k], min(reference_g[k], reference_h[k]));
  const auto impedance_g = t.numbers("geom_solimp", g, 5), impedance_h = t.numbers("geom_solimp", h, 5);
  std::vector<T> impedance = impedance_g;
  for (std::size_t k = 0; k < 5 && !one; k++) impedance[k] = mix * impedance_g[k] + (unit - mix) * impedance_h[k];
  r.softness = softness_of(reference, impedance);
  std::copy(reference.begin(), reference.end(), r.friction_reference);
  return r;
}

// Chooses `own` if its numbers have the same sign and are not both zero, else `other`.
template <class T> void choose_reference(const auto& own, const auto& other, T* reference) {
  const T zero(0.0);
  const auto standard = zero < own[0] && zero < own[1];
  const auto direct = own[0] <= zero && own[1] <= zero && (own[0] < zero || own[1] < zero);
  for (int k = 0; k < 2; k++) reference[k] = select(standard || direct, T(own[k]), T(other[k]));
}

// Parameters of a <pair>.
template <class T> Touch<T> touch_of_pair(const WorldTables<T>& t, int i) {
  Touch<T> r;
  r.dimension = t.integer("pair_dim", i);
  r.margin = t.real("pair_margin", i), r.gap = t.real("pair_gap", i), r.adhesion = t.row("pair_adhesion", i)[0];
  const auto friction = t.numbers("pair_friction", i, 5);
  std::copy(friction.begin(), friction.end(), r.friction);
  const auto of_normal = t.numbers("pair_solref", i, 2);
  r.softness = softness_of(of_normal, t.numbers("pair_solimp", i, 5));
  // zeros and numbers of neither form select the reference of the normal
  choose_reference(t.numbers("pair_solreffriction", i, 2), of_normal, r.friction_reference);
  return r;
}

// Applies the values of the flag override to all pairs.
template <class T> void replace(Touch<T>& r, const WorldTables<T>& t) {
  r.margin = t.real("opt.o_margin");
  const auto reference = t.numbers("opt.o_solref", 0, 2), friction = t.numbers("opt.o_friction", 0, 5);
  r.softness = softness_of(reference, t.numbers("opt.o_solimp", 0, 5));
  std::copy(reference.begin(), reference.end(), r.friction_reference);
  std::copy(friction.begin(), friction.end(), r.friction);
}

// The convex hull of a mesh in MuJoCo: polygons with their corners, and the corners of the graph of edges. Polygons
// join faces that are nearly in one plane. They therefore lack some edges, and even corners, that a search for the
// farthest corner needs.
Hull<double> hull_of(const MujocoTables& t, int mesh) {
  const int first = t.integer("mesh_vertadr", mesh), polygons = t.integer("mesh_polyadr", mesh);
  // mesh_graph: number of corners, number of faces, for each corner the start of its neighbours, for each corner its
  // vertex, lists of neighbours that end with -1
  const int graph = t.has("mesh_graphadr") ? t.integer("mesh_graphadr", mesh) : -1;
  const auto in_graph = [&](int k) { return t.integer("mesh_graph", graph + k); };
  const int joined = graph < 0 ? 0 : in_graph(0);
  const auto vertex_of = [&](int k) { return in_graph(2 + joined + k); };
  const auto at = [](std::span<const double> r) { return Vec3d{r[0], r[1], r[2]}; };
  std::vector<Vec3d> corner;
  std::vector<HullPolygon<double>> polygon;
  std::map<int, int> number;  // corner number of a vertex
  for (int p = polygons; p < polygons + t.integer("mesh_polynum", mesh); p++)
    for (int k = 0; k < t.integer("mesh_polyvertnum", p); k++)
      number[t.integer("mesh_polyvert", t.integer("mesh_polyvertadr", p) + k)] = 0;
  for (int k = 0; k < joined; k++) number[vertex_of(k)] = 0;
  for (auto& [vertex, n] : number) {
    n = static_cast<int>(corner.size());
    corner.push_back(at(t.row("mesh_vert", first + vertex, 3)));
  }
  for (int p = polygons; p < polygons + t.integer("mesh_polynum", mesh); p++) {
    polygon.push_back({at(t.row("mesh_polynormal", p, 3)), {}});
    for (int k = 0; k < t.integer("mesh_polyvertnum", p); k++)
      polygon.back().corner.push_back(number.at(t.integer("mesh_polyvert", t.integer("mesh_polyvertadr", p) + k)));
  }
  Hull<double> h = hull_from(corner, polygon);
  if (joined == 0) return h;
  std::vector<std::set<int>> beside(corner.size());
  for (std::size_t i = 0; i < corner.size(); i++)
    for (int k = h.first_neighbour[i]; k < h.first_neighbour[i + 1]; k++)
      beside[i].insert(h.neighbour[static_cast<std::size_t>(k)]);
  for (int i = 0; i < joined; i++)
    for (int k = in_graph(2 + i), other; (other = in_graph(2 + 2 * joined + k)) >= 0; k++)
      beside[static_cast<std::size_t>(number.at(vertex_of(i)))].insert(number.at(vertex_of(other)));
  h.neighbour.clear(), h.first_neighbour = {0};
  for (const std::set<int>& b : beside) {
    h.neighbour.insert(h.neighbour.end(), b.begin(), b.end());
    h.first_neighbour.push_back(static_cast<int>(h.neighbour.size()));
  }
  return h;
}

// Hulls of meshes and height fields among the contacts of a world, each stored once.
template <class T> class Shapes {
 public:
  Shapes(const WorldTables<T>& t, GeomContacts<T>& c) : t_(t), c_(c) {}

  // Adds the shape of a geom that is a mesh with a hull or a height field.
  void add(int geom) {
    Geom<T>& g = c_.geom[static_cast<std::size_t>(geom)];
    const int data = t_.integer("geom_dataid", geom);
    if (g.type == GeomType::Mesh && t_.integer("mesh_polynum", data) > 0)
      g.hull = add(data, hulls_, c_.hull, [&] { return hull_of(t_.tables(), data); });
    if (g.type == GeomType::HeightField)
      g.field = add(data, fields_, c_.field, [&] { return height_field_of(t_.tables(), data); });
  }

 private:
  int add(int data, std::map<int, int>& numbers, auto& all, const auto& made) {
    const auto [at, is_new] = numbers.try_emplace(data, static_cast<int>(all.size()));
    if (is_new) all.push_back(made());
    return at->second;
  }

  const WorldTables<T>& t_;
  GeomContacts<T>& c_;
  std::map<int, int> hulls_, fields_;  // by the number of the mesh or field
};

// Geoms whose distances are measured by sensors.
std::vector<int> measured_geoms(const MujocoTables& t) {
  enum { distance = 39, fromto = 41, body_object = 1 };  // mjtSensor, mjtObj
  std::vector<int> all;
  for (int i = 0; t.has("nsensor") && i < t.integer("nsensor"); i++) {
    if (t.integer("sensor_type", i) < distance || t.integer("sensor_type", i) > fromto) continue;
    for (const std::string of : {"sensor_obj", "sensor_ref"}) {
      const int id = t.integer(of + "id", i);
      const bool is_body = t.integer(of + "type", i) == body_object;
      const int first = is_body ? t.integer("body_geomadr", id) : id;
      for (int k = 0; k < (is_body ? t.integer("body_geomnum", id) : 1); k++) all.push_back(first + k);
    }
  }
  return all;
}

// The largest number of prisms of a height field that can be below a geom.
int most_under(const HeightField<double>& f, double reach) {
  const auto across = [&](double half, int lines) {
    return std::min<double>(lines - 1, std::floor(reach * (lines - 1) / half) + 2);
  };
  return static_cast<int>(std::min<double>(most_prisms, 2 * across(f.x, f.columns) * across(f.y, f.rows)));
}

// Collects pairs that have contacts in MuJoCo but not here.
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

// The reason why a pair has no contacts here; empty if it has.
template <class T> std::string unsupported(const MujocoTables& t, const GeomPair& f, const Touch<T>& touch,
                                           const GeomType (&type)[2]) {
  std::string shapes =
      std::string(shape_names[static_cast<int>(type[0])]) + " with " + shape_names[static_cast<int>(type[1])];
  if (slots_of(type[0], type[1]) == 0) return shapes;
  for (int k = 0; k < 2; k++)
    if (type[k] == GeomType::Mesh && t.integer("mesh_polynum", t.integer("geom_dataid", f.geom[k])) == 0)
      return shapes + " without a hull";
  return touch.adhesion != 0 ? shapes + " with adhesion" : "";
}

template <class T> Geom<T> geom_of(const WorldTables<T>& t, const Places<T>& places, int i) {
  const int type = t.integer("geom_type", i);
  if (type < 0 || type >= static_cast<int>(std::size(shape_names)))
    throw Error(geom_name(t.tables(), i) + ": shape " + std::to_string(type) + " is not supported");
  const auto size = t.numbers("geom_size", i, 3);
  Geom<T> g{static_cast<GeomType>(type), places.geom(i), {size[0], size[1], size[2]}};
  const auto surface = t.row("geom_surfacevel", i, 6);
  for (std::size_t k = 0; k < 3; k++) {
    g.surface.v(static_cast<int>(k)) = T(surface[k]), g.surface.w(static_cast<int>(k)) = T(surface[3 + k]);
    g.surface_moves = g.surface_moves || surface[k] != 0 || surface[3 + k] != 0;
  }
  return g;
}

template <class T> ContactPair<T> pair_of(const WorldTables<T>& t, const GeomPair& f, const Touch<T>& touch) {
  ContactPair<T> p;
  p.dimension = touch.dimension;
  if (p.dimension != 1 && p.dimension != 3 && p.dimension != 4 && p.dimension != 6)
    throw Error(geom_name(t.tables(), f.geom[0]) + " and " + geom_name(t.tables(), f.geom[1]) + ": condim is " +
                std::to_string(p.dimension) + ", expected 1, 3, 4 or 6");
  for (int k = 0; k < 5; k++) p.friction[k] = max(touch.friction[k], T(least_friction));
  p.softness = touch.softness;
  p.margin = touch.margin, p.detection = touch.margin + touch.gap;
  // numbers of different signs have no meaning, and zeros mean that nothing is given
  choose_reference(touch.friction_reference, touch.softness.reference, p.friction_reference);
  for (int k = 0; k < 2; k++) {
    p.geom[k] = f.geom[k];
    const auto inverse = t.numbers("body_invweight0", t.integer("geom_bodyid", f.geom[k]), 2);
    for (std::size_t i = 0; i < 2; i++) p.inverse_inertia[i] += inverse[i];
  }
  return p;
}

}  // namespace

HeightField<double> height_field_of(const MujocoTables& t, int i) {
  const auto size = t.row("hfield_size", i, 4);
  HeightField<double> f{
      t.integer("hfield_nrow", i), t.integer("hfield_ncol", i), size[0], size[1], size[2], size[3], {}};
  for (int k = 0; k < f.rows * f.columns; k++)
    f.height.push_back(t.real("hfield_data", t.integer("hfield_adr", i) + k));
  return f;
}

template <class T>
void add_contacts(World<T>& world, const WorldTables<T>& t, const Places<T>& places,
                  std::vector<std::string>& notices) {
  GeomContacts<T>& c = world.contacts;
  const int off = t.integer("opt.disableflags"), on = t.integer("opt.enableflags"), cone = t.integer("opt.cone");
  for (int i = 0; i < t.integer("ngeom"); i++) c.geom.push_back(geom_of(t, places, i));
  if (cone != pyramidal && cone != elliptic) throw Error("option cone: " + std::to_string(cone) + " is not supported");
  c.elliptic = cone == elliptic;
  c.impedance_ratio = t.real("opt.impratio");
  if (const double ratio = t.nominal("opt.impratio"); !(ratio > 0))
    throw Error("option impratio: " + std::to_string(ratio) + ", expected a positive number");
  Shapes<T> shapes(t, c);
  for (const int g : measured_geoms(t.tables())) shapes.add(g);
  if (off & (no_constraints | no_contacts)) return;
  if (on & speculative) throw Error("flag speculative: speculative contacts are not supported");

  std::vector<Geom<double>> types_and_bodies(c.geom.size());
  for (std::size_t i = 0; i < c.geom.size(); i++)
    types_and_bodies[i].type = c.geom[i].type, types_and_bodies[i].place.body = c.geom[i].place.body;
  LeftOut left_out;
  bool has_loops = false;
  c.several = (off & no_several) == 0;
  for (const GeomPair& f : geom_pairs(t.tables(), types_and_bodies)) {
    end_if_interrupted();
    Touch<T> touch = f.named < 0 ? touch_of_geoms(t, f.geom[0], f.geom[1]) : touch_of_pair(t, f.named);
    if (on & override_contacts) replace(touch, t);
    const Geom<T>&first = c.geom[static_cast<std::size_t>(f.geom[0])],
          &second = c.geom[static_cast<std::size_t>(f.geom[1])];
    const GeomType type[] = {first.type, second.type};
    const std::string why = unsupported(t.tables(), f, touch, type);
    if (!why.empty()) {
      left_out.add(why, t.tables(), f.geom);
      continue;
    }
    for (const int g : f.geom) shapes.add(g);
    has_loops = has_loops || !has_closed_form(type[0], type[1]);
    c.pair.push_back(pair_of(t, f, touch));
    c.pair.back().slots = slots_of(type[0], type[1], c.several);
    if (first.field >= 0) {
      Geom<double> over{second.type, {}, {}, second.hull};
      for (int k = 0; k < 3; k++) over.size(k) = known(second.size(k));
      const double reach =
          convex_body<double>(c, over, identity_placement<double>()).reach + known(touch.margin) + known(touch.gap);
      if (!(reach >= 0))
        throw Error(geom_name(t.tables(), f.geom[0]) + " and " + geom_name(t.tables(), f.geom[1]) +
                    ": the number of contacts depends on sizes and margins, which cannot be inputs");
      c.pair.back().slots = most_under(c.field[static_cast<std::size_t>(first.field)], reach);
    }
  }
  if (const std::string notice = left_out.notice(); !notice.empty()) notices.push_back(notice);
  if (has_loops && (off & no_native))
    notices.push_back("flag nativeccd is ignored: contacts of convex shapes are computed as if it were enabled");
}

template void add_contacts(World<double>&, const WorldTables<double>&, const Places<double>&,
                           std::vector<std::string>&);
template void add_contacts(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&, std::vector<std::string>&);

}  // namespace featherstorm
