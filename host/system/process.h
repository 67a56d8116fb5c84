#pragma once

#include <string>
#include <vector>

namespace featherstorm {

// Result of a process.
struct ProcessResult {
  bool started = false;    // false: it could not be started, and `output` has the reason
  bool timed_out = false;  // it was killed, with every process it had started
  int exit_code = -1;      // exit code, or 128 + the signal that ended it
  std::string output;      // standard output and standard error, the first 256 KiB
};

// Runs a program and waits for it.
//   in  arguments: the program's path and its arguments, passed as they are (no shell, so blanks and quotes are safe)
//   in  time_limit [s]: afterwards the program and its process group are killed
// The program has an empty standard input, prints English messages (LC_ALL=C), and is in a process group of its own. It
// ends with the calling process, however that ends. May be interrupted (interruption.h): the program is then killed.
ProcessResult run_process(const std::vector<std::string>& arguments, double time_limit);

}  // namespace featherstorm
