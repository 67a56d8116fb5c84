// Numbers of a model file that may differ from instance to instance: tables of the compiled MuJoCo model that can be inputs of a
// traced program (host/trace/parameters.h). What MuJoCo derives of them when it compiles (body_invweight0, dof_invweight0, ...) are
// tables of their own and do not follow. Two of them are no tables of mjModel: "eq_active", of equalities that the model has, and poses
// of mocap bodies. Where MuJoCo keeps inertia along with them (dof_M0) it follows here.
#pragma once
#include "host/world/world_of.h"

namespace featherstorm {

class Expr;

struct WorldInput {
  std::string_view name;  // the table's; of options "opt_gravity" for "opt.gravity"
  int width;              // numbers of a row
  // Whether something is there where the model's number is not zero and missing where it is: a spring, dry friction. Zeros of the
  // model must be zeros of every instance.
  bool decides = false;
};

const std::vector<WorldInput>& world_inputs();
std::string table_name(std::string_view input);
// Null where a table is none of them.
const WorldInput* world_input(std::string_view name);

// What D of the rows of each of the world's equalities is multiplied with; empty where `given` has no "eq_active".
std::vector<Expr> equality_weights(const Robot& robot, const WorldTables<Expr>::Given& given);

// m, cast from `model`, the robot's own or it with other frames in its bodies, with these tables.
void set_world_inputs(Model<Expr>& m, const Model<double>& model, const Robot& robot,
                      const WorldTables<Expr>::Given& given);

}  // namespace featherstorm
