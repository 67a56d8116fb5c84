// The engine's path to a GPU (host/device_evaluator.h, Buffers, copies) against the reference in double: every
// operation, robot and precision, arrays by components and by instances, on the default stream and on the thread's own;
// by the kernels for any robot, then by the robot's own, which NVRTC makes here.
//
//   gpu_engine
#include <cstdio>

#include "host/device.h"
#include "host/device_evaluator.h"
#include "host/error.h"
#include "host/specialised_program.h"
#include "tests/gpu/batch.h"
#include "tests/gpu/reference.h"

namespace featherstorm::testing {
namespace {

constexpr int device = 0, count = 1027;
int failures = 0, calls = 0;

// The row of an operation, as Evaluator has it.
template <class Op>
OpRow row_of(const Model<double>& m, int index) {
  OpRow r{index, Op::info.name, Op::info.summary, {}, {}, {}, Op::info.uses_frame, Op::info.carried};
  for (const OpArray& a : Op::info.in) r.in.push_back({a.name, size_of(m, a.size)});
  for (const OpArray& a : Op::info.out) r.out.push_back({a.name, size_of(m, a.size)});
  for (const OpArray& a : Op::info.uniform) r.uniforms.push_back({a.name, size_of(m, a.size)});
  return r;
}

// An array in device memory: by components as a Buffer is, or by instances as a row-major tensor is.
struct DeviceArray {
  Buffer memory;
  ArrayRef ref;
  DeviceArray(Precision p, int components, bool by_instances, void* stream)
      : memory(by_instances ? Buffer(p, long(count) * components, 1, device, stream)
                            : Buffer(p, count, components, device, stream)),
        ref(memory.ref()) {
    if (by_instances)
      ref.instances = count, ref.components = components, ref.instance_stride = components, ref.component_stride = 1;
  }
};

template <class Op, class Real>
void check(DeviceEvaluator& e, const NamedRobot& robot, const Reference& r, int op, bool by_instances, void* stream) {
  const Model<double>& m = robot.robot.model;
  const Precision p = precision_of<Real>();
  RunOptions options;
  for (const auto& u : op_uniforms<Op>(m)) options.uniforms.insert(options.uniforms.end(), u.begin(), u.end());
  options.frame = m.nf - 1, options.stream = stream;
  std::vector<DeviceArray> in, out;
  std::vector<ArrayRef> in_refs, out_refs;
  for (std::size_t k = 0; k < Op::info.in.size(); k++) {
    Buffer host(p, count, size_of(m, Op::info.in[k].size));
    for (int i = 0; i < count; i++)
      for (std::size_t c = 0; c < r.inputs[i][k].size(); c++)
        host.component<Real>(c)[i] = static_cast<Real>(r.inputs[i][k][c]);
    in_refs.push_back(in.emplace_back(p, size_of(m, Op::info.in[k].size), by_instances, stream).ref);
    copy(host.ref(), in_refs.back(), stream);
  }
  for (const OpArray& a : Op::info.out)
    out_refs.push_back(out.emplace_back(p, size_of(m, a.size), by_instances, stream).ref);
  e.run(m, row_of<Op>(m, op), device, in_refs, out_refs, options, true);
  calls++;
  const auto& tolerance = p == Precision::float32 ? r.tolerance_float : r.tolerance_double;
  double worst = 0;
  for (std::size_t k = 0; k < out.size(); k++) {
    Buffer host(p, count, out_refs[k].components);
    copy(out_refs[k], host.ref(), stream);
    for (int i = 0; i < count; i++)
      for (int c = 0; c < out_refs[k].components; c++) {
        const double error = std::abs(host.component<Real>(c)[i] - r.exact[i][k][c]) / tolerance[k];
        worst = error <= worst ? worst : std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      }
  }
  if (worst > 1) failures++;
  const bool own = e.specialised(row_of<Op>(m, op), device, p, Op::info.uses_frame ? options.frame : 0);
  std::printf("%s%s/%s/%s/%s/by-%s/%s  error %.3f of the tolerance\n", worst > 1 ? "FAILED  " : "",
              std::string(Op::info.name).c_str(), robot.name.c_str(), sizeof(Real) == 4 ? "float" : "double",
              own ? "own-kernel" : "any-robot", by_instances ? "instances" : "components", stream ? "own-stream" : "default-stream", worst);
}

// Whether NVRTC is to make a kernel: the heavy operations for all robots, every operation in float for the small ones.
template <class Op> bool has_own(const Robot& robot, Precision p) {
  const std::string_view op = Op::info.name;
  const bool heavy = op == "rnea" || op == "crba" || op == "fd" || op == "step";
  return p == Precision::float32 ? heavy || robot.model.nv <= 20 : heavy && robot.model.nv <= 20;
}

int run() {
  // cudaStreamPerThread: a stream that need not be made
  void* const own_stream = reinterpret_cast<void*>(0x2);
  for (const NamedRobot& robot : gpu_robots()) {
    DeviceEvaluator e;
    for_every_op([&](auto row, int op) {
      using Op = decltype(row);
      if (!on_device<Op>(robot.robot.model)) return;
      const Reference r = reference<Op>(robot.robot.model, count, robot.robot.model.nf - 1, 1);
      for (bool by_instances : {false, true})
        for (void* stream : {static_cast<void*>(nullptr), own_stream}) {
          check<Op, float>(e, robot, r, op, by_instances, stream);
          check<Op, double>(e, robot, r, op, by_instances, stream);
        }
      const OpRow row_here = row_of<Op>(robot.robot.model, op);
      const int frame = Op::info.uses_frame ? robot.robot.model.nf - 1 : 0;
      const auto own = [&](Precision p) {
        if (!has_own<Op>(robot.robot, p)) return false;
        e.specialise({op, frame}, robot.robot, row_here, device, p, nullptr);
        return true;
      };
      const bool own_float = own(Precision::float32), own_double = own(Precision::float64);
      for (bool by_instances : {false, true}) {
        if (own_float) check<Op, float>(e, robot, r, op, by_instances, own_stream);
        if (own_double) check<Op, double>(e, robot, r, op, by_instances, own_stream);
      }
    });
  }
  std::printf("%d calls of the engine compared, %d failures\n", calls, failures);
  return failures || !calls;
}

}  // namespace
}  // namespace featherstorm::testing

int main() try { return featherstorm::testing::run(); } catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
