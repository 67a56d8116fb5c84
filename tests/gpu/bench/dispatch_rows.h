// The fastest forms as rows of the dispatch table (host/compile/dispatch.h), in a file that is whole and sorted after every
// size that is measured: the last row that fits a call decides, so a smaller size must never stand behind a larger one.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

#include "tests/gpu/bench/forms.h"

namespace featherstorm::testing {

class DispatchRows {
 public:
  DispatchRows(std::string path, std::string head) : path_(std::move(path)), head_(std::move(head)) {}

  struct Measured {
    Form form;
    double seconds;
  };
  // A form with wrong results: the file says so, and is not adopted.
  void different(const std::string& what) {
    head_ += "# DIFFERENT " + what + "\n";
    if (!path_.empty()) write();
  }
  // What was measured of a batch of so many instances, right results alone.
  void add(const std::string& robot, const std::string& op, const std::string& precision, int capability, long count,
           int multiprocessors, const std::vector<Measured>& measured) {
    if (measured.empty()) return;
    Call& c = calls_[{robot, op, precision, capability}];
    c.multiprocessors = multiprocessors;
    c.sizes[count].insert(c.sizes[count].end(), measured.begin(), measured.end());
    if (!path_.empty()) write();
  }

 private:
  struct Call {
    int multiprocessors = 1;
    std::map<long, std::vector<Measured>> sizes;
  };
  // For a number of warps the engine makes one kernel, that of the row for the largest batch: here the fastest at the
  // largest size where it was measured. So all rows with as many warps name it.
  static std::map<int, Form> kernels(const Call& c) {
    std::map<int, Form> best;
    for (auto size = c.sizes.rbegin(); size != c.sizes.rend(); ++size) {
      std::map<int, Measured> here;
      for (const Measured& m : size->second) {
        const auto found = here.find(m.form.form.warps);
        if (found == here.end() || m.seconds < found->second.seconds) here.insert_or_assign(m.form.form.warps, m);
      }
      for (const auto& [warps, m] : here) best.insert({warps, m.form});
    }
    return best;
  }
  void write() const {
    const std::string next = path_ + ".new";
    {
      std::ofstream file(next);
      file << head_ << "robot,op,precision,capability,per_multiprocessor,kernel,threads,order,blocks,warps,basis\n";
      for (const auto& [call, c] : calls_) {
        const auto made = kernels(c);
        const auto& [robot, op, precision, capability] = call;
        bool first = true;  // what is smaller than all that was measured is served like the smallest
        for (const auto& [count, measured] : c.sizes) {
          const Measured* best = nullptr;
          for (const Measured& m : measured)
            if (made.at(m.form.form.warps).same_kernel(m.form) && (!best || m.seconds < best->seconds)) best = &m;
          if (!best) continue;
          const DeviceForm& f = best->form.form;
          file << robot << "," << op << "," << precision << "," << capability << ","
               << (first ? 0 : count / c.multiprocessors) << ",specialised," << best->form.threads << "," << f.order
               << "," << f.blocks << "," << f.warps << ",measured\n";
          first = false;
        }
      }
      if (!file.flush()) throw std::runtime_error("cannot write " + next);
    }
    std::filesystem::rename(next, path_);
  }

  std::string path_, head_;
  std::map<std::tuple<std::string, std::string, std::string, int>, Call> calls_;
};

}  // namespace featherstorm::testing
