#pragma once

#include <string>
#include <vector>

namespace featherstorm {

// How a program ended.
struct ProcessResult {
  bool started = false;    // false: it could not be run at all, `output` says why
  bool timed_out = false;  // it was killed, with everything it had started
  int exit_code = -1;      // its exit code, or 128 + the signal that ended it
  std::string output;      // what it wrote to standard output and standard error, the first 256 KiB
};

// Runs a program and waits for it.
//   in  arguments: the program's path and its arguments, passed as they are (no shell, so blanks and quotes are safe)
//   in  time_limit [s]: then the program and its process group are killed
// The program reads nothing, speaks English (LC_ALL=C), and leads a process group of its own.
ProcessResult run_process(const std::vector<std::string>& arguments, double time_limit);

}  // namespace featherstorm
