// An operation of ops.h traced for one model: the program that specialised kernels are emitted from.
#pragma once
#include "core/builder.h"
#include "core/trace/program.h"

namespace featherstorm {

// How many algorithms compute this operation (ops.h).
int variants_of(int op);

// Runs operation `op` on traced numbers, within the graph that this thread records into (expr.h): a part of a larger
// program. `in`: the row's inputs, then its uniforms, with their sizes for this model; returns its outputs.
std::vector<std::vector<Expr>> record_op(int op, const Model<double>& model, int frame, int variant,
                                         const std::vector<std::vector<Expr>>& in);

// The program of operation `op` (its row in ops.h). Constants of the model are folded; inertia is regrouped first where
// the operation depends on sums over the robot only.
Program trace_op(int op, const Model<double>& model, int frame, int variant);

// The variant with the fewest operations (a multiply-add counts once, divisions and sine-cosine pairs as eight).
Program trace_best(int op, const Model<double>& model, int frame);

}  // namespace featherstorm
