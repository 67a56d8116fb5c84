// Derivatives of a traced program, as operations on traced numbers: they fold, share terms and are scheduled, emitted
// and assembled like any other program.
//
//   Program g = vjp(p);   reverse mode: inputs of p, y_bar of each output y   ->  x_bar = sum (dy/dx)^T y_bar
//   Program f = jvp(p);   forward mode: inputs of p, x_tan of each input x    ->  y_tan = sum (dy/dx) x_tan
//
// Reverse mode costs two to three times the program for all inputs together. Forward mode costs as much for one
// direction. Derivatives are with respect to components: the components of a quaternion are variables in R^4, on and
// off the unit sphere. Uniform inputs are held fixed. At a corner of a function (min, max, abs, select) the derivative
// is that of the branch that gave the value; floor and conditions have none.
//
// Griewank and Walther, Evaluating Derivatives, chapters 3 and 4.
#pragma once
#include <string>
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

using TracedArrays = std::vector<std::vector<Expr>>;

// Suffixes of the names of cotangents and tangents.
inline constexpr const char* cotangent_suffix = "_bar";
inline constexpr const char* tangent_suffix = "_tan";

// Runs a program on traced numbers, in the graph that this thread records into (expr.h): in[k] for input array k;
// returns its outputs.
TracedArrays replay(const Program& p, const TracedArrays& in);

// The same for derivatives: y_bar[j] for output array j; returns one array for each input array, empty for uniform
// ones.
TracedArrays pull_back(const Program& p, const TracedArrays& in, const TracedArrays& y_bar);

// x_tan[k] for input array k, empty where it is held fixed; returns one array for each output array.
TracedArrays push_forward(const Program& p, const TracedArrays& in, const TracedArrays& x_tan);

// The derivatives as programs. Input arrays: those of p that are not uniform, the cotangents or tangents, the uniform
// ones. Throws std::invalid_argument where an added name is taken. Carried arrays of p are not carried.
Program vjp(const Program& p);
// The derivative of some outputs with respect to some inputs; cotangents of the other outputs are zero. Throws
// std::invalid_argument for names that p does not have.
Program vjp(const Program& p, const std::vector<std::string>& of, const std::vector<std::string>& by);
Program jvp(const Program& p);

}  // namespace featherstorm
