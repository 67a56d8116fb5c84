// Parameters of a robot, selected by name, which may differ between instances. All other numbers of the robot remain
// constants of the traced program.
//
//   name      per instance      unit               what
//   gravity   (3)               m/s^2              in world axes
//   mass      (nb)              kg                 of a moving body, everything fixed to it included
//   com       (nb, 3)           m                  its centre of mass, in the axes of its link
//   inertia   (nb, 6)           kg m^2             xx xy xz yy yz zz about the centre of mass, in the axes of its link
//   position  (nb, 3)           m                  origin of its link in that of its parent's link, at q = 0
//   armature  (nv)              kg m^2 | kg        reflected inertia of rotors
//   damping   (nv)              N m s | N s/m
//   friction  (nv)              N m | N            dry friction
//   lower, upper (nv)           rad | m            position limits
//   max_effort (nv)             N m | N
//
// "Its link" is the link in robot.body_names. Derived numbers (first moments, regrouped inertia) are computed from the
// parameters in the same program, so they always match.
//
// For a robot with the world of a model file, tables of that file are parameters too, with MuJoCo's names
// (host/world/world_inputs.h).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/builder.h"
#include "core/trace/expr.h"

namespace featherstorm {

class Parameters {
 public:
  struct Array {
    std::string_view name;
    int components;
    std::vector<int> shape{};
  };

  // No parameters: the whole robot is constant.
  Parameters() = default;
  // Throws Error for a name that is unknown or given twice.
  Parameters(const Robot& robot, const std::vector<std::string>& names);

  const std::vector<Array>& arrays() const { return arrays_; }

  // The model with these numbers, values[k] for arrays()[k]. Call it within a Tracing scope. `m`: the robot's model,
  // or the model with other frames in its bodies.
  Model<Expr> apply(const Model<double>& m, const std::vector<std::vector<Expr>>& values) const;
  // See host/world/world_inputs.h.
  std::vector<Expr> equality_weights(const std::vector<std::vector<Expr>>& values) const;

 private:
  std::map<std::string, std::vector<Expr>, std::less<>> tables(const std::vector<std::vector<Expr>>& values) const;

  std::vector<Array> arrays_;
  std::shared_ptr<const Robot> robot_;  // a copy, if there are tables of a model file
  std::vector<int> link_;               // (nb + 1) the frame that is the link of each body; -1: none
};

// The robot's own numbers as the components of a parameter. Throws Error for an unknown name.
std::vector<double> parameter_values(const Robot& robot, std::string_view name);

// The shape of a parameter: (nb, 3) for three numbers per body.
std::vector<int> parameter_shape(const Robot& robot, std::string_view name);

// The names in the order of the table above.
const std::vector<std::string_view>& parameter_names();
// True for a name of this list or of a table of a model file.
bool is_parameter(std::string_view name);

}  // namespace featherstorm
