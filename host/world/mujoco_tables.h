// The arrays of a compiled MuJoCo model (mjModel) by their names there, as numbers: what C++ needs to know of MuJoCo.
//
// Python fills them from mujoco.MjModel; a C++ program that links MuJoCo can from its mjModel. Integers and booleans are exact.
// Fields of mjOption begin with "opt.", sizes have their names ("nbody").
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/system/error.h"

namespace featherstorm {

class MujocoTables {
 public:
  void set(const std::string& name, std::vector<double> numbers) { tables_[name] = std::move(numbers); }
  bool has(const std::string& name) const { return tables_.count(name) > 0; }
  int size(const std::string& name) const { return has(name) ? static_cast<int>(tables_.at(name).size()) : 0; }

  // Row `i` of a table with rows of `width` numbers. Throws Error where there is no such table or row.
  std::span<const double> row(const std::string& name, int i, int width = 1) const {
    if (asked_for_ != nullptr) asked_for_->insert(name);
    const auto found = tables_.find(name);
    if (found == tables_.end()) throw Error("the model has no table " + name + ": is this MuJoCo 4?");
    const std::vector<double>& t = found->second;
    if (i < 0 || width < 1 || (static_cast<std::size_t>(i) + 1) * static_cast<std::size_t>(width) > t.size())
      throw Error("table " + name + " has " + std::to_string(t.size()) + " numbers, expected a row " +
                  std::to_string(i) + " of " + std::to_string(width));
    return std::span(t).subspan(static_cast<std::size_t>(i) * width, width);
  }
  // Adds the names of tables that are asked for to `names`, until it is null; while one thread reads them alone.
  void record(std::set<std::string>* names) { asked_for_ = names; }
  const std::map<std::string, std::vector<double>>& all() const { return tables_; }
  double real(const std::string& name, int i = 0) const { return row(name, i)[0]; }
  int integer(const std::string& name, int i = 0) const { return static_cast<int>(row(name, i)[0]); }
  bool flag(const std::string& name, int i = 0) const { return row(name, i)[0] != 0; }

 private:
  std::map<std::string, std::vector<double>> tables_;
  std::set<std::string>* asked_for_ = nullptr;
};

}  // namespace featherstorm
