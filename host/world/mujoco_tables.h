// The arrays of a compiled MuJoCo model (mjModel), by their names in MuJoCo, as numbers. C++ reads MuJoCo models only
// through them.
//
// Python fills them from mujoco.MjModel; a C++ program that links MuJoCo can fill them from its mjModel. Integers and
// booleans are exact. Fields of mjOption begin with "opt."; sizes have their MuJoCo names ("nbody").
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

  // Row `i` of a table whose rows have `width` numbers. Throws Error if the table or the row does not exist.
  std::span<const double> row(const std::string& name, int i, int width = 1) const {
    if (asked_for_ != nullptr) asked_for_->insert(name);
    const auto found = tables_.find(name);
    if (found == tables_.end())
      throw Error("the model has no table " + name + ", which MuJoCo 4 has; check MuJoCo's version");
    const std::vector<double>& t = found->second;
    if (i < 0 || width < 1 || (static_cast<std::size_t>(i) + 1) * static_cast<std::size_t>(width) > t.size())
      throw Error("table " + name + " has " + std::to_string(t.size()) + " numbers, expected a row " +
                  std::to_string(i) + " of " + std::to_string(width));
    return std::span(t).subspan(static_cast<std::size_t>(i) * width, width);
  }
  // Adds the name of every table that is read to `names`, until called with null. Only one thread may read meanwhile.
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
