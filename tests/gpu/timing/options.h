// What the programs of this folder are told on the command line, and how long they may take.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace featherstorm::testing {

//   quick               small, for a test without a GPU
//   --only ROBOT[/ROW]  these cases alone
//   --seconds N         stops before a case that would not fit into N seconds, and tells what it left out
struct Options {
  bool quick = false;
  std::string robot, row;
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> words;  // all other arguments

  Options(int argc, char** argv) {
    for (int k = 1; k < argc; k++) {
      const std::string s = argv[k];
      const auto value = [&] {
        if (k + 1 == argc) throw std::runtime_error(s + " needs a value");
        return std::string(argv[++k]);
      };
      if (s == "quick") {
        quick = true;
      } else if (s == "--only") {
        const std::string only = value();
        const std::size_t slash = only.find('/');
        robot = only.substr(0, slash);
        if (slash != std::string::npos) row = only.substr(slash + 1);
      } else if (s == "--seconds") {
        const std::string number = value();
        char* end = nullptr;
        seconds = std::strtod(number.c_str(), &end);
        if (number.empty() || *end || !(seconds >= 0))
          throw std::runtime_error("--seconds is '" + number + "', expected a number");
      } else if (s.starts_with("-")) {
        throw std::runtime_error("there is no option " + s + ": --only ROBOT[/ROW] and --seconds N are");
      } else {
        words.push_back(s);
      }
    }
  }
  bool wants(const std::string& a_robot, const std::string& a_row) const {
    return (robot.empty() || robot == a_robot) && (row.empty() || row == a_row);
  }
  bool has(const std::string& word) const {
    for (const std::string& w : words)
      if (w == word) return true;
    return false;
  }
};

// Seconds that are left, and what did not fit into them.
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds) {}
  double used() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // Whether a case that takes so long may begin; tells where not.
  bool fits(double seconds, const std::string& what) {
    if (seconds <= left()) return true;
    char why[100];
    std::snprintf(why, sizeof why, "it needs about %.1f s of %.1f s that are left", seconds, left());
    leave_out(what, why);
    return false;
  }
  void leave_out(const std::string& what, const std::string& why) {
    left_out_++;
    std::printf("# left out: %s: %s\n", what.c_str(), why.c_str());
    std::fflush(stdout);
  }
  double left() const { return seconds_ - used(); }
  int left_out() const { return left_out_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  double seconds_;
  int left_out_ = 0;
};

}  // namespace featherstorm::testing
