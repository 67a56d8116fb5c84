// The texts that derivatives of a step are taken of (world_gradients.h): what the solver has solved, and the way on.
#pragma once
#include <map>
#include <string>

#include "host/trace/world_programs.h"

namespace featherstorm {

// How many numbers the arrays of a step and the parameters have.
std::map<std::string, int> sizes_of(const Model<double>& model, const Parameters& parameters);

// Whether the integrator takes slopes of forces along: Runge-Kutta's method does not, whatever the equations tell.
bool takes_slopes(const WorldPrograms& step);

// g of both equations at accelerations that are held, and what the way on takes besides.
//
// With contacts rows of all candidates are in g. Without, poses and motions of bodies are outputs, which contacts depend on
// (host/solver/contact_gradients.h): by lambda, by a and by v. Throws std::length_error beyond `most` nodes.
Program trace_residual(const Model<double>& model, const WorldPrograms& step, bool contacts,
                       const Parameters& parameters, int most);

// Of all integrators but Runge-Kutta's method, whose stages are the way on.
Program trace_integration(const Model<double>& model, const Parameters& parameters);

}  // namespace featherstorm
