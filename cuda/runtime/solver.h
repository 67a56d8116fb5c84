// The contact solver of a robot, on one device.
#pragma once
#include "host/memory/cuda_table.h"

namespace featherstorm {

bool create_solver(int device, const void* solver, bool double_precision, SolverAlgorithm text, CudaSolver** handle);
void destroy_solver(CudaSolver* handle);
bool solver_info(const CudaSolver* solver, CudaSolverInfo* info);
bool launch_solver(const CudaSolver* solver, const CudaSolverLaunch* launch, void* stream);

}  // namespace featherstorm
