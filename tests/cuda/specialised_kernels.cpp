// Specialised CUDA kernels of the built-in robots, for specialised.py.
//
//   specialised_kernels list                            the kernels' names, one a line: robot/op/precision
//   specialised_kernels choose TARGET KERNEL...         compiles in all forms with NVRTC, as the engine does, and
//                                                       prints what the best takes, as rows of specialised.csv
//   specialised_kernels measure TARGET KERNEL=FORM...   compiles in one form (order:blocks) each
//   specialised_kernels text KERNEL=FORM                the program text
//
// Exit status 77 where there is no NVRTC 13.0.
#include <cstdio>
#include <iostream>

#include "host/device_kernel.h"
#include "host/error.h"
#include "host/load.h"
#include "host/ops.h"
#include "host/robots/robots.h"
#include "host/trace_op.h"

namespace featherstorm {
namespace {

const char* const double_robots[] = {"iiwa14", "go2"};
const char* const ops[] = {"rnea", "crba", "fd", "step"};

template <int i = 0>
int op_index(std::string_view name) {
  if constexpr (i < static_cast<int>(std::tuple_size_v<Ops>))
    return std::tuple_element_t<i, Ops>::info.name == name ? i : op_index<i + 1>(name);
  else throw Error("there is no operation '" + std::string(name) + "'");
}

struct Kernel {
  std::string name;
  Program program;
  bool double_precision;
  int freedoms;
};
Kernel traced(const std::string& name) {
  const std::size_t a = name.find('/'), b = name.rfind('/');
  if (a == std::string::npos || a == b) throw Error("'" + name + "' is not robot/op/precision");
  const std::string robot = name.substr(0, a);
  const Robot r = load(robot);
  return {name, trace_best(op_index(name.substr(a + 1, b - a - 1)), r.model, 0), name.substr(b + 1) == "double",
          r.model.nv};
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
  std::printf("%s,%s,%s,%d,%d,%d,%d,%d,%d,%.1f\n", k.name.c_str(), target.c_str(), std::string(form.order).c_str(),
              form.blocks, c.registers, c.spill_stores, c.spill_loads, c.code, c.instructions,
              static_cast<double>(c.instructions) / k.freedoms);
  std::fflush(stdout);
}

int run(const std::vector<std::string>& a) {
  if (a.size() == 1 && a[0] == "list") {
    for (const char* op : ops) {
      for (const BuiltinRobot& r : builtin_robots()) std::printf("%s/%s/float\n", std::string(r.name).c_str(), op);
      for (const char* r : double_robots) std::printf("%s/%s/double\n", r, op);
    }
    return 0;
  }
  if (a.size() == 2 && a[0] == "text") {
    const auto [name, form] = parse(a[1]);
    const Kernel k = traced(name);
    std::cout << device_text(k.program, k.double_precision, form);
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
      const DeviceKernel best = compile_for_device(k.program, k.double_precision, compiler, a[1]);
      print(k, a[1], best.form, best.cost);
    } else {
      const auto [name, form] = parse(a[i]);
      const Kernel k = traced(name);
      print(k, a[1], form, compiler.compile(device_text(k.program, k.double_precision, form), a[1]).cost);
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
