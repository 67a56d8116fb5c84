// What these programs print: a line for each case, which is out before the next case begins, and counts at the end. A
// case that fails, or throws, is counted and does not end the program.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <string>

namespace featherstorm::testing {

struct Tally {
  int cases = 0, failures = 0;  // the program counts its cases where they begin
};
inline Tally& tally() {
  static Tally counts;
  return counts;
}

[[gnu::format(printf, 1, 2)]] inline void line(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
  std::fflush(stdout);
}
inline void failed(const std::string& where, const std::string& what) {
  tally().failures++;
  line("FAILED  %s: %s", where.c_str(), what.c_str());
}
// f(), whose exceptions are failures.
template <class F> void attempt(const std::string& where, const F& f) {
  try {
    f();
  } catch (const std::exception& e) { failed(where, e.what()); }
}
// The last line, and what main returns: a program without cases has failed.
inline int finish(const char* what) {
  line("%d %s, %d failures", tally().cases, what, tally().failures);
  return tally().failures || !tally().cases;
}

}  // namespace featherstorm::testing
