// Programs that the derivatives of a step differentiate (world_gradients.h): the solver's residual, and the
// integration.
#pragma once
#include <map>
#include <string>

#include "host/trace/world_programs.h"

namespace featherstorm {

// Return the number of components of each array of a step and of each parameter.
std::map<std::string, int> sizes_of(const Model<double>& model, const Parameters& parameters);

// Return whether the integrator includes slopes of forces. Runge-Kutta's method does not, whatever step.damps says.
bool takes_slopes(const WorldPrograms& step);

// Trace the residual g, g_h of both equations at given accelerations, and the other inputs of the integrator.
//
// With `contacts`, g contains the rows of all contact candidates. Without, poses of bodies and their motions under
// lambda, a and v are outputs, for the derivatives of found contacts (host/solver/contact_gradients.h). Throws
// std::length_error if the program has more than `most` nodes.
Program trace_residual(const Model<double>& model, const WorldPrograms& step, bool contacts,
                       const Parameters& parameters, int most);

// Trace the integration of all integrators except Runge-Kutta's method, whose stages are programs of the step.
Program trace_integration(const Model<double>& model, const Parameters& parameters);

}  // namespace featherstorm
