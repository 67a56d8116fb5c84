// Numbers of a model file that may differ between instances: tables of the compiled MuJoCo model that can be inputs of
// a traced program (host/trace/parameters.h). Values that the MuJoCo compiler derives from them (body_invweight0,
// dof_invweight0, ...) are tables of their own and do not change with them. Two inputs are not tables of mjModel:
// "eq_active", for equalities of the model, and the poses of mocap bodies. Inertia that MuJoCo stores beside the
// tables (dof_M0) is recomputed here.
#pragma once
#include "host/world/world_of.h"

namespace featherstorm {

class Expr;

struct WorldInput {
  std::string_view name;  // the table's name; "opt_gravity" for option "opt.gravity"
  int width;              // numbers per row
  // True if an effect exists only where the model's number is not zero, such as a spring or dry friction. Where the
  // model has zero, every instance must have zero.
  bool decides = false;
};

const std::vector<WorldInput>& world_inputs();
std::string table_name(std::string_view input);
// The input for a table; null if the table is not an input.
const WorldInput* world_input(std::string_view name);

// Factors of D for the rows of each equality of the world; empty if `given` has no "eq_active".
std::vector<Expr> equality_weights(const Robot& robot, const WorldTables<Expr>::Given& given);

// Sets these tables in m. m is cast from `model`, which is the robot's model or the same with other frames in its
// bodies.
void set_world_inputs(Model<Expr>& m, const Model<double>& model, const Robot& robot,
                      const WorldTables<Expr>::Given& given);

}  // namespace featherstorm
