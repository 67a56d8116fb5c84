// Traces an operation of ops.h, or a derivative of it, for one robot. Kernels are made from the resulting program.
#pragma once
#include <limits>
#include <string_view>

#include "core/trace/program.h"
#include "host/trace/parameters.h"

namespace featherstorm {

// For an operation y = f(x): y itself, x_bar = (df/dx)^T y_bar, or y_tan = (df/dx) x_tan
// (core/program/differentiate.h).
enum class Derivative { none, vjp, jvp };

// The index of an operation, by its name. Throws Error if there is none of this name.
int op_index(std::string_view name);

// The number of algorithms for this operation (ops.h). If there are two, the first uses articulated bodies, the second
// the factor of the inertia matrix.
int variants_of(int op);

// The model with which an operation is traced, values[k] for parameters.arrays()[k]. Inertia is regrouped if the
// operation depends only on sums over the robot (regroup.h). Axes are turned (joint_axes.h) and origins moved
// (slide.h) if this does not change the operation's arrays. Call it within a Tracing scope.
Model<Expr> model_of_row(int op, const Model<double>& model, const Parameters& parameters,
                         const std::vector<std::vector<Expr>>& values);

// Records operation `op` on traced numbers in the current graph of this thread (expr.h), as part of a larger program.
// `model`: from model_of_row. `in`: the operation's inputs, then its uniforms, with their sizes for this model.
// Returns the outputs.
std::vector<std::vector<Expr>> record_op(int op, const Model<Expr>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in);

// The program of operation `op`, an index in ops.h. Its inputs: those of the operation, the parameters, the uniforms.
// Constants of the model are folded (model_of_row). Throws std::length_error if the graph has more nodes than `most`.
Program trace_op(int op, const Model<double>& model, int frame, int variant, const Parameters& parameters = {},
                 int most = std::numeric_limits<int>::max());

// The program of a derivative. Its inputs: those of the operation, the parameters, the cotangents of its outputs or
// the tangents of inputs and parameters, the uniforms. Forward dynamics is differentiated in its implicit form
// (trace_derivative.cpp).
Program trace_derivative(int op, const Model<double>& model, int frame, int variant, Derivative derivative,
                         const Parameters& parameters = {}, int most = std::numeric_limits<int>::max());
int derivative_variants_of(int op);

// The variant with the fewest operations, among those that keep digits for this robot (digits.h). A multiply-add
// counts once, divisions and sine-cosine pairs count eight times. Throws std::length_error if all variants need many
// more than `most`.
Program trace_best(int op, const Model<double>& model, int frame, Derivative derivative = Derivative::none,
                   const Parameters& parameters = {}, int most = 1 << 22);

// The operation whose inverse, as a map from accelerations to forces, is operation `op`; -1 if there is none.
int inverse_of(int op);

}  // namespace featherstorm
