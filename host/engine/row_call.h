// A call of an operation, and the check of its arrays. All calls are checked here, for all devices.
#pragma once
#include <vector>

#include "host/engine/options.h"
#include "host/trace/row.h"

namespace featherstorm {

struct RowCall {
  const OpRow& row;
  const std::vector<ArrayRef>&in, &out;
  const RunOptions& options;

  const ArrayRef& lead() const { return in.empty() ? out.front() : in.front(); }
  Precision precision() const { return lead().precision; }
  long instances() const { return lead().instances; }
  int device() const { return lead().device; }
};

// Throws Error naming the operation, the argument, the value received and the value expected. frames: of the robot.
void check(const RowCall& call, int frames);

}  // namespace featherstorm
