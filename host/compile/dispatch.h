// Which kernel serves a call on a CUDA device, by robot, operation, precision, device and batch: a table that is data.
//
// The table is dispatch_table.inc; rows of a file that FEATHERSTORM_DISPATCH names come after its own. The last row
// that fits a call decides. An evaluator reads it when it makes its first kernel for a device.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/buffer.h"

namespace featherstorm {

// A row of the table; "*" fits everything.
struct DispatchRow {
  std::string robot, op, precision, capability;
  long per_multiprocessor = 0;  // from so many instances per multiprocessor on
  bool specialised = true;      // the robot's own kernel where it has been made, else the one for any robot
  int threads = 64;             // instances in a block of the robot's own kernel: 32 or 64
  std::string order;            // the form to compile (device_kernel.h); empty: the best by count
  int blocks = 0;
  int warps = 1;      // for each 32 instances: a role each (core/program/partition.h); with several, 32 threads
  std::string basis;  // "count" or "measured"
};

// A call as the table sees it.
struct DispatchCall {
  std::string_view robot, op;
  Precision precision;
  int capability;  // 10 major + minor
  double per_multiprocessor = std::numeric_limits<double>::infinity();
};

class Dispatch {
 public:
  // The library's table and these rows. Throws Error naming the line and what was expected there.
  explicit Dispatch(const std::string& rows);
  // The library's table and the user's rows, read now.
  static Dispatch standard();

  const DispatchRow& choose(const DispatchCall& call) const;
  // For each number of warps that calls like this one are given at any batch, the row for the largest batch with it.
  std::vector<const DispatchRow*> forms(const DispatchCall& call) const;
  const std::vector<DispatchRow>& rows() const { return rows_; }

 private:
  void add(const std::string& table, const std::string& where);
  std::vector<DispatchRow> rows_;
};

}  // namespace featherstorm
