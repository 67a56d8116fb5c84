// A call of a row, checked: the one place where its arrays are compared with what the row takes, wherever they lie.
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

// Throws Error naming the operation, the argument, what came and what was expected. frames: of the robot.
void check(const RowCall& call, int frames);

}  // namespace featherstorm
