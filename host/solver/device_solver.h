// The contact solver of a robot as a stage on CUDA devices.
#pragma once
#include <memory>

#include "host/contacts/solver_data.h"
#include "host/memory/cuda_table.h"
#include "host/memory/device_stage.h"

namespace featherstorm {

// Return the stage of an algorithm, with the arrays of host/solver/contact_solver.h. P: float or double.
//
// A launch works on as many instances at once as the device has resident threads. It works on fewer if their working
// memory (host/solver/solver_room.h) would exceed a quarter of the device's memory. work_bytes() throws Error if that
// quarter is too small for one block of threads.
template <class P>
DeviceStageMaker device_solver_stage(const std::shared_ptr<const ContactSolver<P>>& solver, SolverAlgorithm text);

}  // namespace featherstorm
