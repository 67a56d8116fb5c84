// The contact solver of a robot as a stage on CUDA devices.
#pragma once
#include <memory>

#include "host/contacts/solver_data.h"
#include "host/memory/cuda_table.h"
#include "host/memory/device_stage.h"

namespace featherstorm {

// P float or double. Of a text the stage's arrays are those of host/solver/contact_solver.h. A launch works on as many instances at once as
// the device holds threads of, or fewer where their working memory (host/solver/solver_room.h) would be more than a quarter of the
// device's; work_bytes() throws Error where it is too small for one block of threads.
template <class P>
DeviceStageMaker device_solver_stage(const std::shared_ptr<const ContactSolver<P>>& solver, SolverAlgorithm text);

}  // namespace featherstorm
