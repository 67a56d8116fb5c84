// The lines of all benches of this folder: one case each, written as soon as it is known.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>

#include "host/memory/cuda_table.h"
#include "tests/gpu/timing/options.h"
#include "tests/gpu/timing/timing.h"

namespace featherstorm::testing {

// What a row says; absent numbers are NaN or -1 and printed as "-".
struct ReportRow {
  std::string what;      // robot/row/precision/kernel/form/B=instances
  Time time;             // of a launch [s]
  double instances = 1;  // of a launch
  CudaKernelInfo kernel{-1, -1, 0, 0, 0};
  int code = -1;         // [bytes]
  double bytes = NAN;    // moved per instance
  double ceiling = NAN;  // the least time of a launch that the machine allows [s]
  int in_cache = -1;     // whether all that is moved fits the L2
  double error = NAN;
  std::string result;   // same, DIFFERENT, or nothing where nothing is compared
  double figure = NAN;  // what the row is about, where it is not the time of an instance
  std::string unit;
};

class Report {
 public:
  int failures = 0, rows = 0;

  void head() const {
    std::printf(
        "what,ns_per_instance,least,most,launches,registers,local_bytes,code_bytes,in_L2,GB/s,share_of_ceiling,SM_MHz,"
        "error,result,figure,unit\n");
    std::fflush(stdout);
  }
  void row(const ReportRow& r) {
    const double ns = 1e9 / r.instances, rate = r.bytes * r.instances / r.time.median * 1e-9;
    std::printf("%s,%s,%s,%s,%d,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", r.what.c_str(),
                number(r.time.median * ns, 5).c_str(), number(r.time.least * ns, 5).c_str(),
                number(r.time.most * ns, 5).c_str(), r.time.launches, count(r.kernel.registers).c_str(),
                count(r.kernel.local_bytes).c_str(), count(r.code).c_str(),
                r.in_cache < 0 ? "-"
                : r.in_cache   ? "yes"
                               : "no",
                number(rate, 4).c_str(), number(r.ceiling / r.time.median, 3).c_str(), clocks(r.time).c_str(),
                number(r.error, 2).c_str(), r.result.empty() ? "-" : r.result.c_str(), number(r.figure, 5).c_str(),
                r.unit.empty() ? "-" : r.unit.c_str());
    std::fflush(stdout);
    rows++;
    failures += r.result == "DIFFERENT";
  }
  void failed(const std::string& what, const std::string& why) {
    failures++;
    std::printf("FAILED %s: %s\n", what.c_str(), why.substr(0, 500).c_str());
    std::fflush(stdout);
  }
  // The last line, and the program's exit status: not 0 where something failed, or nothing was done or left out.
  int end(const Budget& budget) const {
    std::printf("# %d lines, %d failures, %d cases left out, %.0f s\n", rows, failures, budget.left_out(),
                budget.used());
    std::fflush(stdout);
    return failures > 0 || (rows == 0 && budget.left_out() == 0);
  }
  // Runs a case; what it throws is told and does not end the program.
  template <class F>
  bool attempt(const std::string& what, F&& f) {
    try {
      f();
      return true;
    } catch (const std::exception& e) {
      failed(what, e.what());
      return false;
    }
  }

 private:
  static std::string number(double x, int digits) {
    if (std::isnan(x)) return "-";
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, x);
    return text;
  }
  static std::string count(int n) { return n < 0 ? "-" : std::to_string(n); }
  static std::string clocks(const Time& t) {
    if (t.fastest == 0) return "-";
    return t.slowest == t.fastest ? std::to_string(t.fastest)
                                  : std::to_string(t.slowest) + "-" + std::to_string(t.fastest);
  }
};

}  // namespace featherstorm::testing
