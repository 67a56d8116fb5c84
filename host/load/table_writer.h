// Writes the tables of a model row by row, as in MuJoCo.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "host/world/mujoco_tables.h"

namespace featherstorm {

class TableWriter {
 public:
  using Numbers = std::vector<double>;

  // Appends a row to a table.
  void add(const std::string& table, const Numbers& row) {
    Numbers& all = tables_[table];
    all.insert(all.end(), row.begin(), row.end());
  }
  // Number of rows of a table whose rows have `width` numbers.
  int rows(const std::string& table, int width) const {
    const auto found = tables_.find(table);
    return found == tables_.end() ? 0 : static_cast<int>(found->second.size()) / width;
  }
  // Writes tables of one number; tables after the end of `values` get 0.
  void count(const std::vector<const char*>& tables, const std::vector<int>& values) {
    for (std::size_t k = 0; k < tables.size(); k++) tables_[tables[k]] = {k < values.size() ? double(values[k]) : 0.0};
  }
  // Writes the name of the model, which must come first, or the name of the next element of a kind: "body", "jnt",
  // "geom", "actuator".
  void name(const std::string& model) { write(model); }
  void name(const std::string& kind, const std::string& name) {
    add("name_" + kind + "adr", {double(tables_["names"].size())});
    write(name);
  }

  MujocoTables tables() const {
    MujocoTables all;
    for (const auto& [name, numbers] : tables_) all.set(name, numbers);
    return all;
  }

 private:
  void write(const std::string& name) {
    Numbers& all = tables_["names"];
    for (const char c : name) all.push_back(static_cast<unsigned char>(c));
    all.push_back(0);
  }

  std::map<std::string, Numbers> tables_;
};

}  // namespace featherstorm
