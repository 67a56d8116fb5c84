// An operation of ops.h, or a derivative of it, traced for one robot: the program that its kernels are made from.
#pragma once
#include <limits>
#include <string_view>

#include "core/trace/program.h"
#include "host/trace/parameters.h"

namespace featherstorm {

// Of an operation y = f(x): itself, x_bar = (df/dx)^T y_bar, or y_tan = (df/dx) x_tan (core/program/differentiate.h).
enum class Derivative { none, vjp, jvp };

// The row of an operation by its name. Throws Error where there is none.
int op_index(std::string_view name);

// How many algorithms compute this operation (ops.h). Where there are two, the first goes by articulated bodies, the second by
// the factor of the inertia matrix.
int variants_of(int op);

// The model that a row is traced with, values[k] for parameters.arrays()[k]: with regrouped inertia where the row depends
// on sums over the robot alone (regroup.h), with turned axes (joint_axes.h) and slid origins (slide.h) where it does not
// see them. To be called within a Tracing scope.
Model<Expr> model_of_row(int op, const Model<double>& model, const Parameters& parameters,
                         const std::vector<std::vector<Expr>>& values);

// Runs operation `op` on traced numbers, within the graph that this thread records into (expr.h): a part of a larger
// program. `model`: model_of_row. `in`: the row's inputs, then its uniforms, with their sizes for this model; returns its outputs.
std::vector<std::vector<Expr>> record_op(int op, const Model<Expr>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in);

// The program of operation `op` (its row in ops.h). Its inputs: those of the row, the parameters, the uniforms. Constants
// of the model are folded (model_of_row). Throws
// std::length_error where the graph has more nodes than `most`.
Program trace_op(int op, const Model<double>& model, int frame, int variant, const Parameters& parameters = {},
                 int most = std::numeric_limits<int>::max());

// The same of a derivative. Its inputs: those of the row, the parameters, the cotangents of its outputs or the tangents of
// inputs and parameters, the uniforms. Forward dynamics is differentiated in its implicit form (trace_derivative.cpp).
Program trace_derivative(int op, const Model<double>& model, int frame, int variant, Derivative derivative,
                         const Parameters& parameters = {}, int most = std::numeric_limits<int>::max());
int derivative_variants_of(int op);

// The variant with the fewest operations (a multiply-add counts once, divisions and sine-cosine pairs as eight), of those that
// keep digits of this robot (digits.h). Throws std::length_error where all of them need many more than `most`.
Program trace_best(int op, const Model<double>& model, int frame, Derivative derivative = Derivative::none,
                   const Parameters& parameters = {}, int most = 1 << 22);

// The operation whose inverse, as a map from accelerations to forces, operation `op` is; -1 where it is none.
int inverse_of(int op);

}  // namespace featherstorm
