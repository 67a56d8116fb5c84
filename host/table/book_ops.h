// Rows of the table of operations (ops.h) for what the books have beyond the rows of ops.h, a file of host/table/ops for each
// subject: derivatives, closed loops, contacts, further integrators among them.
//
// Their run-time-model kernels are few, to keep builds short: for the base instruction set, which wider processors use
// too, and for the largest CUDA models, which smaller ones use too. Assembled and compiled kernels are as for any row.
// For CPUs those of the robots that carry loops, couplings or contacts lie in the base set's library; all others are a
// library of their own, which is built and loaded where they are asked for (host/memory/cpu_library.h).
#pragma once
#include "host/table/ops/contacts.h"
#include "host/table/ops/couplings.h"
#include "host/table/ops/derivatives.h"
#include "host/table/ops/factors.h"
#include "host/table/ops/floating.h"
#include "host/table/ops/higher_derivatives.h"
#include "host/table/ops/integration.h"
#include "host/table/ops/loops.h"
#include "host/table/ops/matrices.h"
#include "host/table/ops/maximal.h"
#include "host/table/ops/momentum.h"
#include "host/table/ops/operational.h"
#include "host/table/ops/regressors.h"
#include "host/table/ops/variable_step.h"

namespace featherstorm {

using CarriedOps = decltype(std::tuple_cat(LoopOps{}, CouplingOps{}, ContactOps{}));
using BookOpsBefore = decltype(std::tuple_cat(DerivativeOps{}, MatrixOps{}, MomentumOps{}, OperationalOps{},
                                              RegressorOps{}, FloatingOps{}, IntegrationOps{}, FactorOps{}));
using BookOps = decltype(std::tuple_cat(BookOpsBefore{}, CarriedOps{}, HigherDerivativeOps{}, MaximalOps{},
                                        VariableStepOps{}));

}  // namespace featherstorm
