// Sizes of what a library of kernels reads, for the loader (host/memory/cpu_library.h).
#include "core/model/model.h"
#include "host/contacts/solver_data.h"
#include "host/memory/cpu_library.h"
#include "host/simulation/world_data.h"
#include "host/table/ops.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::LibraryLayout* featherstorm_layout() {
  using namespace featherstorm;
  static constexpr LibraryLayout layout{{sizeof(Model<float>), sizeof(Model<double>)},
                                        {sizeof(ContactSolver<float>), sizeof(ContactSolver<double>)},
                                        op_count,
                                        sizeof(WorldData)};
  return &layout;
}
