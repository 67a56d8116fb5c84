// The kernels of one row for one robot in all forms that compete (host/compile/device_kernel.h), made in the background.
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/compile/device_kernel.h"
#include "host/system/error.h"
#include "tests/gpu/bench/workshop.h"
#include "tests/gpu/timing/program.h"
#include "tests/gpu/timing/row_case.h"

namespace featherstorm::testing {

// A kernel and how many instances a block of it takes.
struct Form {
  DeviceForm form;
  int threads;  // 32 or 64 instances
  std::shared_ptr<const DeviceKernel> kernel;
  std::shared_ptr<GpuProgram> program;

  // order:blocks:instances in a block[x warps for 32 of them]
  std::string name() const {
    return std::string(form.order) + ":" + std::to_string(form.blocks) + ":" + std::to_string(threads) +
           (form.warps > 1 ? "x" + std::to_string(form.warps) : "");
  }
  // Whether both are one kernel, whatever its blocks are.
  bool same_kernel(const Form& f) const {
    return form.order == f.form.order && form.blocks == f.form.blocks && form.warps == f.form.warps;
  }
};

struct FormsOptions {
  std::vector<std::string_view> orders = {"trace", "greedy", "sethi_ullman"};
  std::vector<int> blocks = {6, 8};  // limits on registers, tried with the best of the orders
  std::vector<int> warps = {2, 4, 5};
  std::vector<int> threads = {32, 64};
  static FormsOptions few() { return {{"trace", "greedy", "sethi_ullman"}, {}, {4}, {64}}; }
  static FormsOptions quick() { return {{"greedy"}, {}, {4}, {32}}; }

  int most() const { return static_cast<int>((orders.size() + blocks.size()) * threads.size() + warps.size()); }
};

class Forms {
 public:
  Forms(const std::string& row, const Robot& robot, bool double_precision, int capability, int instances,
        const FormsOptions& options, DeviceCompiler& compiler, Workshop& shop)
      : options_(options) {
    row_ = shop.give([row, &robot, instances] { return std::make_shared<const RowCase>(row, robot.model, instances); });
    const auto make = [=, &robot, &compiler, row = row_](const DeviceForm& form) -> Kernel {
      const Program& p = row.get()->program;
      const Bodies bodies = bodies_of(p, robot.model);
      return std::make_shared<const DeviceKernel>(compiler.kernel(p, double_precision, capability, form, &bodies));
    };
    for (std::string_view order : options.orders) orders_.push_back(shop.give([=] { return make({order, 0, 1}); }));
    for (int blocks : options.blocks)
      others_.push_back(shop.give([make, blocks, made = orders_]() -> Kernel {
        const DeviceKernel* best = nullptr;
        for (const auto& k : made)
          if (!best || is_better(k.get()->cost, best->cost)) best = k.get().get();
        return make({best->form.order, blocks, 1});
      }));
    for (int warps : options.warps)
      others_.push_back(shop.give([make, warps]() -> Kernel {
        try {
          return make({"greedy", 0, warps});
        } catch (const Error& e) {
          // only those that cannot be cut are left out: not so many limbs, or too much to exchange
          const std::string why = e.what();
          if (why.find("roles") == std::string::npos) throw;
          return nullptr;
        }
      }));
  }
  const RowCase& row() const { return *row_.get(); }
  int most() const { return options_.most(); }
  // Waits so long for the row and all kernels; whether they are there.
  bool ready(double seconds) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6));
    bool all = row_.wait_until(end) == std::future_status::ready;
    for (const auto* list : {&orders_, &others_})
      for (const auto& k : *list) all = all && k.wait_until(end) == std::future_status::ready;
    return all;
  }
  // Waits for all kernels; their number.
  int compiled() const {
    int n = 0;
    for (const auto* list : {&orders_, &others_})
      for (const auto& k : *list) n += k.get() != nullptr;
    return n;
  }
  // Waits for the kernels and loads them, once. One that cannot be had is told and left out.
  template <class F>
  const std::vector<Form>& loaded(F&& failed) {
    if (loaded_) return forms_;
    loaded_ = true;
    for (const auto* list : {&orders_, &others_})
      for (const auto& made : *list) try {
          const Kernel kernel = made.get();
          if (!kernel) continue;
          const auto program = std::make_shared<GpuProgram>(kernel->image);
          if (kernel->form.warps > 1) forms_.push_back({kernel->form, 32, kernel, program});
          else
            for (int threads : options_.threads) forms_.push_back({kernel->form, threads, kernel, program});
        } catch (const std::exception& e) { failed(e.what()); }
    return forms_;
  }

 private:
  using Kernel = std::shared_ptr<const DeviceKernel>;
  FormsOptions options_;
  std::shared_future<std::shared_ptr<const RowCase>> row_;
  std::vector<std::shared_future<Kernel>> orders_, others_;
  bool loaded_ = false;
  std::vector<Form> forms_;
};

}  // namespace featherstorm::testing
