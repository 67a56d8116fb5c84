// Specialised CUDA kernels of the built-in robots, for specialised.py.
//
//   specialised_kernels list                            the kernels' names, one a line: robot/op/precision, and
//                                                       robot/op/precision/warps of those in several roles
//   specialised_kernels choose TARGET KERNEL...         compiles in all forms with NVRTC, as the engine does, and
//                                                       prints what the best takes, as rows of specialised.csv
//   specialised_kernels measure TARGET KERNEL=FORM...   compiles in one form (order:blocks) each
//   specialised_kernels roles KERNEL...                 kernel, slots, phases, longest, total and whole (partition.h)
//   specialised_kernels text KERNEL=FORM                the program text
//
// Exit status 77 where there is no NVRTC 13.0.
#include <cstdio>
#include <iostream>

#include "core/emit/emit.h"
#include "core/program/order.h"
#include "host/compile/device_kernel.h"
#include "host/load/load.h"
#include "host/robots/robots.h"
#include "host/system/error.h"
#include "host/table/ops.h"
#include "host/trace/bodies.h"
#include "host/trace/trace_op.h"

namespace featherstorm {
namespace {

const char* const double_robots[] = {"iiwa14", "go2"};
const char* const ops[] = {"rnea", "crba", "fd", "step"};
// In four roles: the robots with four limbs.
const char* const role_robots[] = {"go2", "humanoid", "g1", "atlas"};
const char* const role_ops[] = {"rnea", "fd", "aba", "step"};

struct Kernel {
  std::string name;
  Program program;
  bool double_precision;
  int freedoms, warps;
  Bodies bodies;
};
Kernel traced(const std::string& name) {
  std::vector<std::string> part(1);
  for (char c : name)
    if (c == '/') part.emplace_back();
    else part.back() += c;
  if (part.size() < 3 || part.size() > 4) throw Error("'" + name + "' is not robot/op/precision or one with /warps");
  const Robot r = load(part[0]);
  Program p = trace_best(op_index(part[1]), r.model, 0);
  Bodies bodies = bodies_of(p, r.model);
  return {
      name, std::move(p), part[2] == "double", r.model.nv, part.size() > 3 ? std::stoi(part[3]) : 1, std::move(bodies)};
}

// A kernel and its form, from "KERNEL=order:blocks"; order points into `argument`.
std::pair<std::string, DeviceForm> parse(std::string_view argument) {
  const std::size_t a = argument.find('='), b = argument.rfind(':');
  if (a == argument.npos || b == argument.npos)
    throw Error("'" + std::string(argument) + "' is not kernel=order:blocks");
  return {std::string(argument.substr(0, a)),
          {argument.substr(a + 1, b - a - 1), std::stoi(std::string(argument.substr(b + 1)))}};
}

void print(const Kernel& k, const std::string& target, const DeviceForm& form, const DeviceCost& c) {
  int shared = 0;
  if (k.warps > 1)
    shared = role_bytes(partition(k.program, k.bodies, k.warps, trace_order(k.program)), k.double_precision);
  std::printf("%s,%s,%s,%d,%d,%d,%d,%d,%d,%.1f,%d\n", k.name.c_str(), target.c_str(), std::string(form.order).c_str(),
              form.blocks, c.registers, c.spill_stores, c.spill_loads, c.code, c.instructions,
              static_cast<double>(c.instructions) / k.freedoms, shared);
  std::fflush(stdout);
}

int run(const std::vector<std::string>& a) {
  if (a.size() == 1 && a[0] == "list") {
    for (const char* op : ops) {
      for (const BuiltinRobot& r : builtin_robots()) std::printf("%s/%s/float\n", std::string(r.name).c_str(), op);
      for (const char* r : double_robots) std::printf("%s/%s/double\n", r, op);
    }
    for (const char* op : role_ops)
      for (const char* r : role_robots) std::printf("%s/%s/float/4\n", r, op);
    return 0;
  }
  if (a.size() == 2 && a[0] == "text") {
    auto [name, form] = parse(a[1]);
    const Kernel k = traced(name);
    form.warps = k.warps;
    std::cout << device_source(k.program, k.double_precision, form, &k.bodies);
    return 0;
  }
  if (a.size() > 1 && a[0] == "roles") {
    for (std::size_t i = 1; i < a.size(); i++) {
      const Kernel k = traced(a[i]);
      const RoleProgram r = partition(k.program, k.bodies, k.warps, trace_order(k.program));
      std::printf("%s,%d,%d,%ld,%ld,%ld\n", a[i].c_str(), r.slots, r.phases, r.longest, r.total, r.whole);
    }
    return 0;
  }
  if (a.size() < 3 || (a[0] != "choose" && a[0] != "measure"))
    return std::puts("see the head of specialised_kernels.cpp"), 2;
  const Nvrtc compiler;
  if (!compiler.missing().empty()) return std::puts(compiler.missing().c_str()), 77;
  if (!compiler.identity().starts_with("nvrtc 13.0 "))
    return std::printf("specialised.csv holds for NVRTC 13.0, this is %s\n", compiler.identity().c_str()), 77;
  for (std::size_t i = 2; i < a.size(); i++) {
    if (a[0] == "choose") {
      const Kernel k = traced(a[i]);
      const DeviceKernel best = compile_for_device(k.program, k.double_precision, compiler, a[1], k.warps, &k.bodies);
      print(k, a[1], best.form, best.cost);
    } else {
      auto [name, form] = parse(a[i]);
      const Kernel k = traced(name);
      form.warps = k.warps;
      print(k, a[1], form, compiler.compile(device_source(k.program, k.double_precision, form, &k.bodies), a[1]).cost);
    }
  }
  return 0;
}

}  // namespace
}  // namespace featherstorm

int main(int argc, char** argv) try {
  return featherstorm::run({argv + 1, argv + argc});
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
