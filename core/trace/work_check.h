// Long work on programs can be ended early: it calls this function for each node.
#pragma once

namespace featherstorm {

// The function throws to end the work. Null, the default: work is never ended.
using WorkCheck = void (*)();
void set_work_check(WorkCheck check);
void check_work();

}  // namespace featherstorm
