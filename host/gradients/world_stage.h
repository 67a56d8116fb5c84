// Common parts of the programs of a step's derivatives (world_gradients.h), for one stage: programs, arrays by name,
// Newton's last matrix. Cotangents are traced in world_cotangents.cpp, tangents in world_tangents.cpp.
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
// Arrays that one stage hands to the next, as inputs of the integrator.
inline const std::vector<std::string> between = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};

// Inputs of the tracing of a step, or of one stage of a step.
struct Texts {
  const Model<double>& model;
  const WorldPrograms& step;
  const Program &residual, &way;  // way: the integration, or a stage of Runge-Kutta's method
  const Parameters& parameters;
  int most;          // greatest number of nodes of a program
  bool first, last;  // whether this is the first, the last stage; both for a step without stages
  bool is_stage;
  bool damps;  // whether the integrator includes slopes of forces
};

// Return the values in the order of a program's inputs or outputs, with zeros for arrays that are not given.
TracedArrays in_order(const std::vector<Program::Array>& arrays, const Arrays& values, const std::string& suffix = "");
Arrays by_name(const std::vector<Program::Array>& arrays, const TracedArrays& values, const std::string& suffix = "");
// Return the array of this name, or an empty one if it does not exist.
Numbers found(const Arrays& arrays, const std::string& name);
// Return x + y, where an empty array counts as zero.
Numbers sum(const Numbers& x, const Numbers& y);
Numbers negative(Numbers x);

// Return the names of all arrays with respect to which derivatives are taken.
std::vector<std::string> varied(const Parameters& parameters);
bool is_state(const std::string& name);
std::map<std::string, int> sizes_of(const Texts& t);

// Inputs of the equations and of the integrator, by name.
struct Places {
  Arrays way, at;  // at: the point at which the equations are solved
  Places(const Texts& t, Program& p, bool needs_way);
};

// Return a rate or a cotangent of q without its component along the quaternions, which would change their length.
Numbers along_spheres(const Model<double>& model, const Numbers& q, Numbers rate);

// Return the model with its parameters taken from the inputs of the program.
Model<Expr> model_at(const Texts& t, const Places& x);

// M, the slopes that the integrator includes, and Newton's last matrix at a solution.
class Matrices {
 public:
  // e: outputs of the equations
  Matrices(const Texts& t, const Model<Expr>& m, Arrays e) : t_(t), m_(m), e_(std::move(e)) {}
  // factorise H of all rows at a
  void factorise(const Numbers& a);
  // H^-1 x
  Numbers by_curvature(Numbers x) const;
  // M x
  Numbers times_mass(const Numbers& x) const;
  // (M + h D)^-1 x, or (M + h D)^-T x if transposed
  Numbers by_damped(Numbers x, bool transposed) const;
  const Numbers& operator[](const std::string& name) const { return e_.at(name); }

 private:
  const Texts& t_;
  const Model<Expr>& m_;
  Arrays e_;
  Numbers H_;
};

// Set the acceleration that is integrated.
void set_way(const Texts& t, const Matrices& matrices, Places& x);
// Return the matrices at the solution, with the rows of all candidates in the equations, and set the integrator's
// inputs.
Matrices solved(const Texts& t, const Model<Expr>& m, Places& x);
// With found contacts: declare as inputs the outputs of the equations that the programs need.
Arrays handed_on(const Texts& t, Program& p);

// Programs with the rows of all contact candidates.
Program trace_vjp(const Texts& t);
Program trace_jvp(const Texts& t);
// Programs with found contacts: before and after the share of the contacts is computed.
Program cotangents_before(const Texts& t);
Program cotangents_after(const Texts& t);
Program tangents_before(const Texts& t);
Program tangents_after(const Texts& t);

}  // namespace featherstorm::stage
