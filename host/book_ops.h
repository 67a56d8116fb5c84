// Rows of the table of operations (ops.h) for what the books have beyond the rows of ops.h, a file of host/ops for each subject:
// derivatives, closed loops, contacts, further integrators among them.
//
// Their run-time-model kernels are few, to keep builds short: for the base instruction set, which wider processors use
// too, and for the largest CUDA models, which smaller ones use too. Assembled and compiled kernels are as for any row.
// For CPUs those of the robots that carry loops, couplings or contacts lie in the base set's library; all others are a
// library of their own, which is built and loaded where they are asked for (host/cpu/library.h).
#pragma once
#include "host/ops/contacts.h"
#include "host/ops/couplings.h"
#include "host/ops/derivatives.h"
#include "host/ops/factors.h"
#include "host/ops/floating.h"
#include "host/ops/higher_derivatives.h"
#include "host/ops/integration.h"
#include "host/ops/loops.h"
#include "host/ops/matrices.h"
#include "host/ops/maximal.h"
#include "host/ops/momentum.h"
#include "host/ops/operational.h"
#include "host/ops/regressors.h"
#include "host/ops/variable_step.h"

namespace featherstorm {

using CarriedOps = decltype(std::tuple_cat(LoopOps{}, CouplingOps{}, ContactOps{}));
using BookOpsBefore = decltype(std::tuple_cat(DerivativeOps{}, MatrixOps{}, MomentumOps{}, OperationalOps{},
                                              RegressorOps{}, FloatingOps{}, IntegrationOps{}, FactorOps{}));
using BookOps = decltype(std::tuple_cat(BookOpsBefore{}, CarriedOps{}, HigherDerivativeOps{}, MaximalOps{},
                                        VariableStepOps{}));

}  // namespace featherstorm
