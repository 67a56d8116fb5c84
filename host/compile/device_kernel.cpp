#include "host/compile/device_kernel.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/emit/emit.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "host/system/error.h"
#include "host/system/hash.h"

namespace featherstorm {
namespace {

constexpr int enough_warps = 16;
constexpr std::string_view orders[] = {"trace", "greedy", "sethi_ullman"};

// The name as a string that lives as long as the program.
std::string_view known_order(std::string_view name) { return *std::find(std::begin(orders), std::end(orders), name); }

int spilled(const DeviceCost& c) { return c.spill_stores + c.spill_loads; }

// The bytes of a cache entry: one line, then the image.
std::string packed(const DeviceKernel& k) {
  std::ostringstream s;
  s << k.form.order << " " << k.form.blocks << " " << k.form.warps << " " << k.cost.registers << " "
    << k.cost.spill_stores << " " << k.cost.spill_loads << " " << k.cost.code << " " << k.cost.instructions << "\n"
    << k.image;
  return s.str();
}
std::optional<DeviceKernel> unpacked(const std::string& entry) {
  const std::size_t end = entry.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream s(entry.substr(0, end));
  DeviceKernel k;
  std::string order;
  s >> order >> k.form.blocks >> k.form.warps >> k.cost.registers >> k.cost.spill_stores >> k.cost.spill_loads >>
      k.cost.code >> k.cost.instructions;
  if (!s || std::find(std::begin(orders), std::end(orders), order) == std::end(orders)) return std::nullopt;
  k.form.order = known_order(order);
  k.image = entry.substr(end + 1);
  return k;
}

}  // namespace

std::vector<int> order_of(const Program& p, std::string_view name) {
  if (name == "trace") return trace_order(p);
  if (name == "greedy") return greedy_order(p);
  if (name == "sethi_ullman") return sethi_ullman_order(p);
  throw Error("order is '" + std::string(name) + "', expected trace, greedy or sethi_ullman");
}

std::string device_source(const Program& p, bool double_precision, const DeviceForm& form, const Bodies* bodies) {
  const std::vector<int> order = order_of(p, form.order);
  const Cuda target{double_precision, device_block_threads, form.blocks};
  if (form.warps == 1) return emit(p, order, target);
  const std::string roles = std::to_string(form.warps) + " roles";
  if (form.warps < 1 || form.warps > max_device_roles || !bodies)
    throw Error(roles + ": expected 2 to " + std::to_string(max_device_roles) + ", and the robot's bodies as argument");
  const RoleProgram cut = partition(p, *bodies, form.warps, order);
  if (cut.steps.empty()) throw Error("the program cannot be cut into " + roles + " by the robot's limbs");
  if (const int bytes = role_bytes(cut, double_precision); bytes > max_role_bytes)
    throw Error("the program in " + roles + " exchanges " + std::to_string(bytes) + " bytes, expected at most " +
                std::to_string(max_role_bytes) + " of a block");
  return emit(p, cut, target);
}

int resident_warps(int registers) { return 65536 / (32 * std::max(8, (registers + 7) / 8 * 8)); }

bool is_better(const DeviceCost& a, const DeviceCost& b) {
  if (spilled(a) != spilled(b)) return spilled(a) < spilled(b);
  const int wa = std::min(resident_warps(a.registers), enough_warps),
            wb = std::min(resident_warps(b.registers), enough_warps);
  if (wa != wb) return wa > wb;
  return a.instructions < b.instructions;
}

DeviceKernel compile_for_device(const Program& p, bool double_precision, const Nvrtc& compiler,
                                const std::string& target, int warps, const Bodies* bodies) {
  const auto compiled = [&](const DeviceForm& form) {
    DeviceCode code = compiler.compile(device_source(p, double_precision, form, bodies), target);
    return DeviceKernel{std::move(code.image), form, code.cost};
  };
  if (!target.starts_with("sm_")) {
    const auto live = [&](std::string_view o) { return count(p, order_of(p, o)).max_live; };
    return compiled(
        {*std::min_element(std::begin(orders), std::end(orders), [&](auto a, auto b) { return live(a) < live(b); }), 0,
         warps});
  }
  std::optional<DeviceKernel> best;
  for (std::string_view order : orders) {
    DeviceKernel k = compiled({order, 0, warps});
    if (!best || is_better(k.cost, best->cost)) best = std::move(k);
  }
  return std::move(*best);
}

DeviceCompiler::DeviceCompiler(Notice notice, std::filesystem::path cache_folder)
    : cache_(std::move(cache_folder), std::uintmax_t(1) << 30, std::move(notice), {".cubin", ".cu"}) {}

DeviceKernel DeviceCompiler::kernel(const Program& p, bool double_precision, int capability, const DeviceForm& form,
                                    const Bodies* bodies) {
  const std::string target = nvrtc_.target(capability);
  const bool best = form.order.empty();
  // if the best form is requested, this source determines the others
  const std::string text = device_source(p, double_precision, best ? DeviceForm{"trace", 0, form.warps} : form, bodies);
  const std::string key = Hash()
                              .add_field(FEATHERSTORM_VERSION)
                              .add_field(best ? "device kernel 2, best" : "device kernel 2, one form")
                              .add_field(nvrtc_.identity())
                              .add_field(target)
                              .add_field(text)
                              .hex();
  if (const auto entry = cache_.load(key))
    if (auto kernel = unpacked(*entry)) return std::move(*kernel);
  DeviceKernel kernel;
  if (best) {
    kernel = compile_for_device(p, double_precision, nvrtc_, target, form.warps, bodies);
  } else {
    DeviceCode code = nvrtc_.compile(text, target);
    kernel = {std::move(code.image), {known_order(form.order), form.blocks, form.warps}, code.cost};
  }
  cache_.store(key, packed(kernel), device_source(p, double_precision, kernel.form, bodies));
  return kernel;
}

DeviceKernel DeviceCompiler::kernel(const std::vector<std::pair<DeviceForm, std::string>>& texts, int capability) {
  const std::string target = nvrtc_.target(capability);
  const std::string key = Hash()
                              .add_field(FEATHERSTORM_VERSION)
                              .add_field("device texts 1")
                              .add_field(nvrtc_.identity())
                              .add_field(target)
                              .add_field(texts.front().second)
                              .hex();
  if (const auto entry = cache_.load(key))
    if (auto kernel = unpacked(*entry)) return std::move(*kernel);
  std::optional<DeviceKernel> best;
  const std::string* best_text = nullptr;
  for (const auto& [form, text] : texts) {
    DeviceCode code = nvrtc_.compile(text, target);
    DeviceKernel k{std::move(code.image), form, code.cost};
    if (!best || is_better(k.cost, best->cost)) best = std::move(k), best_text = &text;
    if (!target.starts_with("sm_")) break;
  }
  cache_.store(key, packed(*best), *best_text);
  return std::move(*best);
}

}  // namespace featherstorm
