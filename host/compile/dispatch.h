// Selects the kernel for a call on a CUDA device, from a table by robot, operation, precision, device and batch size.
//
// The table is dispatch_table.inc. Rows of the file named by FEATHERSTORM_DISPATCH are appended to it. The last row
// that matches a call is used. An evaluator reads the table when it makes its first kernel for a device.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/buffer.h"

namespace featherstorm {

// A row of the table; "*" matches everything.
struct DispatchRow {
  std::string robot, op, precision, capability;
  long per_multiprocessor = 0;  // smallest number of instances per multiprocessor
  bool specialised = true;      // the robot's own kernel if it has been made, else the kernel for any robot
  int threads = 64;             // instances per block of the robot's own kernel: 32 or 64
  std::string order;            // the form to compile (device_kernel.h); empty: the best by count
  int blocks = 0;
  int warps = 1;      // warps for 32 instances, one role each (core/program/partition.h); with several, `threads` is 32
  std::string basis;  // "count" or "measured"
};

// The properties of a call that the table uses.
struct DispatchCall {
  std::string_view robot, op;
  Precision precision;
  int capability;  // 10 major + minor
  double per_multiprocessor = std::numeric_limits<double>::infinity();
};

class Dispatch {
 public:
  // The library's table and these rows. Throws Error naming the line and the expected content.
  explicit Dispatch(const std::string& rows);
  // The library's table and the user's rows, read at the time of the call.
  static Dispatch standard();

  const DispatchRow& choose(const DispatchCall& call) const;
  // For each number of warps that such calls use at some batch size, the row with that number for the largest batch.
  std::vector<const DispatchRow*> forms(const DispatchCall& call) const;
  const std::vector<DispatchRow>& rows() const { return rows_; }

 private:
  void add(const std::string& table, const std::string& where);
  std::vector<DispatchRow> rows_;
};

}  // namespace featherstorm
