// The tables of a MuJoCo model, as a world is read from them. T is double or a tracing scalar. With a tracing scalar,
// some tables may be inputs of a program; all others are constants.
//
// Integers and flags decide the elements of a world; they always come from the model's tables. The same holds for the values of
// `nominal`: whether a spring has stiffness, whether a coordinate has dry friction. These values hold for all
// instances.
#pragma once
#include <cmath>

#include "core/scalar/scalar.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

template <class T> class WorldTables {
 public:
  using Given = std::map<std::string, std::vector<T>, std::less<>>;  // whole tables by their names

  explicit WorldTables(const MujocoTables& tables, Given given = {}) : tables_(tables), given_(std::move(given)) {}

  // Row `i` of a table with rows of `width` numbers.
  std::vector<T> numbers(const std::string& name, int i, int width) const {
    if (const auto at = given_.find(name); at != given_.end()) {
      const auto first = at->second.begin() + static_cast<long>(i) * width;
      return {first, first + width};
    }
    const auto row = tables_.row(name, i, width);
    return {row.begin(), row.end()};
  }
  T real(const std::string& name, int i = 0) const { return numbers(name, i, 1)[0]; }

  // A row of a table that is the same for all instances.
  std::span<const double> row(const std::string& name, int i, int width = 1) const {
    if (is_given(name)) throw Error(name + " decides what the world consists of, and cannot be an input");
    return tables_.row(name, i, width);
  }
  int integer(const std::string& name, int i = 0) const { return static_cast<int>(row(name, i)[0]); }
  bool flag(const std::string& name, int i = 0) const { return row(name, i)[0] != 0; }
  bool has(const std::string& name) const { return tables_.has(name); }

  // The model's value, for decisions about the elements of the world.
  double nominal(const std::string& name, int i = 0) const { return tables_.real(name, i); }
  std::span<const double> nominal_row(const std::string& name, int i, int width) const {
    return tables_.row(name, i, width);
  }

  bool is_given(const std::string& name) const { return given_.find(name) != given_.end(); }
  const MujocoTables& tables() const { return tables_; }

 private:
  const MujocoTables& tables_;
  Given given_;
};

// A number that is the same for all instances; NaN if it is an input.
template <class T> double known(const T& x) { return lane(x, 0); }

}  // namespace featherstorm
