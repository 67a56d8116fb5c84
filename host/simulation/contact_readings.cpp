#include "host/simulation/contact_readings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr const char *counts = "contact_count", *links = "contact_link", *sensors = "contact_sensor",
                     *selected = "contact_on_";
enum { no_object = 0, body_object = 1, subtree = 2, geom_object = 5, site_object = 6 };  // mjtObj
enum { touch_sensor = 0, contact_sensor = 42 };                                          // mjtSensor
constexpr unsigned char of_first = 1, of_second = 2;

// Return the link of each geom; without a file's tables, the first link of its body.
std::vector<int> links_of_geoms(const Robot& robot) {
  const World<double>& w = robot.model.world;
  std::vector<int> link;
  for (std::size_t g = 0; g < w.contacts.geom.size(); g++) {
    if (robot.source && robot.source->tables.has("geom_bodyid")) {
      link.push_back(robot.source->tables.integer("geom_bodyid", static_cast<int>(g)));
      continue;
    }
    int l = 0;
    while (l + 1 < w.n_links() && w.link[static_cast<std::size_t>(l)].inertial.body != w.contacts.geom[g].place.body)
      l++;
    link.push_back(l);
  }
  return link;
}

// Builder of the rows of ContactReadings::side.
class Sides {
 public:
  Sides(const Robot& robot, ContactReadings<double>& r) : world_(robot.model.world), r_(r) {}

  void begin() { r_.side.insert(r_.side.end(), r_.link.size(), 0); }
  // Add the geoms of an object to the last row.
  void add(int type, int id, unsigned char bit) {
    for (int g = 0; g < geoms(); g++)
      if (holds(type, id, g)) r_.side[r_.side.size() - r_.link.size() + static_cast<std::size_t>(g)] |= bit;
  }

 private:
  int geoms() const { return static_cast<int>(r_.link.size()); }
  bool holds(int type, int id, int geom) const {
    int link = r_.link[static_cast<std::size_t>(geom)];
    switch (type) {
      case geom_object: return geom == id;
      case body_object: return link == id;
      case subtree:
        while (link > id) link = world_.link[static_cast<std::size_t>(link)].parent;
        return link == id;
      default: return true;
    }
  }
  const World<double>& world_;
  ContactReadings<double>& r_;
};

void add_sensors(const Robot& robot, Sides& sides, ContactReadings<double>& r) {
  const World<double>& w = robot.model.world;
  if (w.sensor.empty() || !robot.source) return;
  const MujocoTables& t = robot.source->tables;
  int first = 0, memory = 0;
  for (int i = 0; i < static_cast<int>(w.sensor.size()); i++) {
    const Sensor<double>& sensor = w.sensor[static_cast<std::size_t>(i)];
    const int type = t.integer("sensor_type", i), object = t.integer("sensor_objtype", i);
    if (type != touch_sensor && type != contact_sensor) continue;
    ContactSensor s;
    s.touch = type == touch_sensor, s.first = first, s.memory = memory;
    sides.begin();
    if (s.touch) {
      sides.add(body_object, sensor.link, of_first);
    } else {
      const auto numbers = t.row("sensor_intprm", i, 3);
      const int reference = t.integer("sensor_reftype", i);
      s.data = static_cast<int>(numbers[0]), s.reduction = static_cast<ContactReduction>(static_cast<int>(numbers[1]));
      s.slots = sensor.count / contact_data_size(s.data);
      s.given[0] = object != no_object, s.given[1] = reference != no_object;
      sides.add(object, t.integer("sensor_objid", i), of_first);
      sides.add(reference, t.integer("sensor_refid", i), of_second);
    }
    if (object == site_object) {
      s.zone = static_cast<int>(r.zone.size());
      r.zone.push_back({i, sensor.shape, {sensor.size[0], sensor.size[1], sensor.size[2]}});
    }
    r.sensor.push_back(s);
    first += count_of(s), memory += memory_of(s);
  }
}

// Parse "geom3" to a type and a number, and remove it from `text`. Return -1 if the text has another form.
int object_in(std::string_view& text, int& type) {
  const bool geom = text.starts_with("geom");
  if (!geom && !text.starts_with("body")) return -1;
  type = geom ? geom_object : body_object;
  int id = -1;
  const auto [end, error] = std::from_chars(text.data() + 4, text.data() + text.size(), id);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return id;
}

void add_selection(const Robot& robot, const std::string& name, Sides& sides, ContactReadings<double>& r) {
  const World<double>& w = robot.model.world;
  std::string_view text = std::string_view(name).substr(std::string_view(selected).size());
  int type[2] = {no_object, no_object}, id[2] = {object_in(text, type[0]), -1};
  if (id[0] >= 0 && text.starts_with('_')) text.remove_prefix(1), id[1] = object_in(text, type[1]);
  const auto there = [&](int k) {
    return id[k] >= 0 && id[k] < (type[k] == geom_object ? static_cast<int>(w.contacts.geom.size()) : w.n_links());
  };
  if (!text.empty() || !there(0) || (type[1] != no_object && !there(1)))
    throw Error("robot '" + robot.name + "' has no array " + name +
                ", expected contact_on_geom3, contact_on_body2 or one of these followed by _geom5");
  sides.begin();
  sides.add(type[0], id[0], of_first), sides.add(type[1], id[1], of_second);
  r.selections++;
}

}  // namespace

std::vector<int> AskedReadings::zones() const {
  std::vector<int> all;
  for (const ContactZone<double>& zone : readings.zone) all.push_back(zone.sensor);
  return all;
}

bool is_contact_reading(const std::string& name) {
  return name == counts || name == links || name == sensors || name.starts_with(selected);
}

AskedReadings asked_readings(const Robot& robot, const std::set<std::string>& names) {
  AskedReadings asked;
  ContactReadings<double>& r = asked.readings;
  if (names.empty()) return asked;
  r.link = links_of_geoms(robot);
  Sides sides(robot, r);
  if (names.contains(counts)) r.counts = true, asked.arrays.emplace_back(counts, contact_counts);
  if (names.contains(links)) {
    r.links = robot.model.world.n_links();
    asked.arrays.emplace_back(links, link_numbers * r.links);
  }
  if (names.contains(sensors)) {
    add_sensors(robot, sides, r);
    asked.arrays.emplace_back(sensors, sensor_numbers(r));
  }
  for (const std::string& name : names) {
    if (!is_contact_reading(name)) throw Error("robot '" + robot.name + "' has no array " + name + " of its contacts");
    if (!name.starts_with(selected)) continue;
    add_selection(robot, name, sides, r);
    asked.selections.push_back(name), asked.arrays.emplace_back(name, selection_numbers);
  }
  return asked;
}

Program split_selections(const AskedReadings& asked) {
  Program p;
  const int n = asked.readings.selections;
  const std::vector<Expr> all = p.input("contact_selection", selection_numbers * n);
  Tracing scope(p.graph);
  for (int i = 0; i < n; i++) {
    const auto first = all.begin() + selection_numbers * i;
    p.output(asked.selections[static_cast<std::size_t>(i)], {first, first + selection_numbers});
  }
  return p;
}

}  // namespace featherstorm
