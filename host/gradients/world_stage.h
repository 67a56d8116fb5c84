// What programs of a step's derivatives (world_gradients.h) are put together from, stage by stage: texts, numbers by their names,
// Newton's last matrix. Programs of cotangents are in world_cotangents.cpp, of tangents in world_tangents.cpp.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/program/differentiate.h"
#include "host/trace/parameters.h"
#include "host/trace/world_programs.h"

namespace featherstorm::stage {

using Numbers = std::vector<Expr>;
using Arrays = std::map<std::string, Numbers>;

inline const std::vector<std::string> state_arrays = {"q", "v", "act"};
inline const std::vector<std::string> drive_arrays = {"ctrl", "qfrc_applied", "xfrc_applied"};
inline const std::vector<std::string> lengths = {"act_dot", "actuator_length", "actuator_velocity"};
// What is handed from stage to stage, as inputs of the way on.
inline const std::vector<std::string> between = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};

// What a step, or a stage of one, is traced from.
struct Texts {
  const Model<double>& model;
  const WorldPrograms& step;
  const Program &residual, &way;  // way: integration, or a stage of Runge-Kutta's method
  const Parameters& parameters;
  int most;          // nodes of a program
  bool first, last;  // of the stages; both without
  bool is_stage;
  bool damps;  // whether the integrator takes slopes of forces along
};

// Arrays as a program's inputs or outputs; zeros for those that are not given.
TracedArrays in_order(const std::vector<Program::Array>& arrays, const Arrays& values, const std::string& suffix = "");
Arrays by_name(const std::vector<Program::Array>& arrays, const TracedArrays& values, const std::string& suffix = "");
// None where there is none of the name.
Numbers found(const Arrays& arrays, const std::string& name);
// Of two where one may be empty.
Numbers sum(const Numbers& x, const Numbers& y);
Numbers negative(Numbers x);

// The names of all that derivatives are taken by.
std::vector<std::string> varied(const Parameters& parameters);
bool is_state(const std::string& name);
std::map<std::string, int> sizes_of(const Texts& t);

// Inputs of the equations and of the way on, by their names.
struct Places {
  Arrays way, at;  // at: where the equations are solved
  Places(const Texts& t, Program& p, bool needs_way);
};

// A rate of q without what would lengthen its quaternions; a cotangent without what weighs that.
Numbers along_spheres(const Model<double>& model, const Numbers& q, Numbers rate);

// The model with the parameters among a program's inputs.
Model<Expr> model_at(const Texts& t, const Places& x);

// M, the slopes that the integrator takes along, and Newton's last matrix at a solution.
class Matrices {
 public:
  // e: what the equations hand on
  Matrices(const Texts& t, const Model<Expr>& m, Arrays e) : t_(t), m_(m), e_(std::move(e)) {}
  // H of all rows at a, factorised
  void factorise(const Numbers& a);
  // H^-1 x
  Numbers by_curvature(Numbers x) const;
  // M x
  Numbers times_mass(const Numbers& x) const;
  // (M + h D)^-1 x, or by its transpose
  Numbers by_damped(Numbers x, bool transposed) const;
  const Numbers& operator[](const std::string& name) const { return e_.at(name); }

 private:
  const Texts& t_;
  const Model<Expr>& m_;
  Arrays e_;
  Numbers H_;
};

// The acceleration that the way on takes.
void set_way(const Texts& t, const Matrices& matrices, Places& x);
// The matrices at the solution, where the equations have the rows of all candidates, and the way on from it.
Matrices solved(const Texts& t, const Model<Expr>& m, Places& x);
// Where contacts are found, what the equations hand on and programs need, as inputs.
Arrays handed_on(const Texts& t, Program& p);

// With the rows of all candidates.
Program trace_vjp(const Texts& t);
Program trace_jvp(const Texts& t);
// Where contacts are found: before what contacts contribute, and behind it.
Program cotangents_before(const Texts& t);
Program cotangents_after(const Texts& t);
Program tangents_before(const Texts& t);
Program tangents_after(const Texts& t);

}  // namespace featherstorm::stage
