// A row of the table, or the reverse derivative of one, as the engine takes it, with what it is to give; and a run of it
// on a device.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/trace/evaluate.h"
#include "host/engine/cuda_rows.h"
#include "host/memory/device.h"
#include "host/trace/specialised_program.h"
#include "tests/gpu/answers/reference.h"
#include "tests/gpu/answers/robots.h"

namespace featherstorm::testing {

struct EngineCase {
  OpRow row;
  Operation operation;
  RunOptions options;
  bool any_robot;  // there is a kernel that takes the model as data
  Reference reference;
  std::shared_ptr<const Program> program{};  // of a derivative, whose arrays the row names
};

template <class Op> EngineCase case_of(const Model<double>& m, int op, int distinct) {
  EngineCase c{{op, Op::info.name, Op::info.summary, {}, {}, {}, Op::info.uses_frame, Op::info.carried},
               {op, Op::info.uses_frame ? m.nf - 1 : 0},
               {},
               true,
               reference<Op>(m, distinct, m.nf - 1, 1)};
  for (const OpArray& a : Op::info.in) c.row.in.push_back({a.name, size_of(m, a.shape)});
  for (const OpArray& a : Op::info.out) c.row.out.push_back({a.name, size_of(m, a.shape)});
  for (const OpArray& a : Op::info.uniform) c.row.uniforms.push_back({a.name, size_of(m, a.shape)});
  for (const auto& u : op_uniforms<Op>(m)) c.options.uniforms.insert(c.options.uniforms.end(), u.begin(), u.end());
  c.options.frame = c.operation.frame;
  return c;
}

// x_bar = (df/dx)^T y_bar of a row without uniforms: its program, node by node, is the reference. `name` must stay.
template <class Op> EngineCase vjp_of(const Model<double>& m, int op, int distinct, std::string_view name) {
  static_assert(Op::info.uniform.empty() && !Op::info.uses_frame);
  const Operation operation{op, 0, Derivative::vjp};
  const auto p = std::make_shared<const Program>(specialised_program(operation, m));
  EngineCase c{{op, name, "", {}, {}, {}, false, false, Derivative::vjp}, operation, {}, false, {}, p};
  for (const auto& a : p->inputs) c.row.in.push_back({a.name, a.size});
  for (const auto& a : p->outputs) c.row.out.push_back({a.name, a.size});
  const auto inputs = [&](int i) {
    auto in = op_inputs<Op>(m, 1000 + i);
    Random random(5000 + i);
    for (std::size_t k = in.size(); k < p->inputs.size(); k++) {
      in.emplace_back(p->inputs[k].size);
      for (double& x : in.back()) x = random.uniform(-1, 1);
    }
    return in;
  };
  c.reference = reference_of(
      distinct, static_cast<int>(p->outputs.size()), inputs, [&](const auto& in) { return evaluate(*p, in); },
      [&](const auto& in) {
        Arrays<float> rounded;
        for (const auto& a : in) rounded.emplace_back(a.begin(), a.end());
        return evaluate(*p, rounded);
      });
  return c;
}

// How a call's arrays lie, and on which stream it runs.
struct Layout {
  bool by_instances;  // as a row-major tensor is; else by components, as a Buffer is
  void* stream;
  std::string name() const {
    return std::string(by_instances ? "by-instances" : "by-components") + (stream ? "/own-stream" : "/default-stream");
  }
};

// An array of `count` instances in device memory.
struct DeviceArray {
  Buffer memory;
  ArrayRef ref;
  DeviceArray(Precision p, int device, long count, long components, const Layout& l)
      : memory(l.by_instances ? Buffer(p, count * components, 1, device, l.stream)
                              : Buffer(p, count, components, device, l.stream)),
        ref(memory.ref()) {
    if (l.by_instances)
      ref.instances = count, ref.components = components, ref.instance_stride = components, ref.component_stride = 1;
  }
};

// Runs the case for `count` instances, those of the reference in turn; its greatest error as a part of the tolerance.
template <class Real>
double error_of(CudaRows& e, const EngineCase& c, int device, int count, const Layout& l) {
  const Precision p = precision_of<Real>();
  const Reference& r = c.reference;
  RunOptions options = c.options;
  options.stream = l.stream;
  std::vector<DeviceArray> in, out;
  std::vector<ArrayRef> in_refs, out_refs;
  for (std::size_t k = 0; k < c.row.in.size(); k++) {
    const int components = c.row.in[k].components;
    Buffer host(p, count, components);
    for (int i = 0; i < count; i++)
      for (int d = 0; d < components; d++)
        host.component<Real>(d)[i] = static_cast<Real>(r.inputs[i % r.inputs.size()][k][d]);
    in_refs.push_back(in.emplace_back(p, device, count, components, l).ref);
    copy(host.ref(), in_refs.back(), l.stream);
  }
  for (const auto& a : c.row.out) out_refs.push_back(out.emplace_back(p, device, count, a.components, l).ref);
  e.run({c.row, in_refs, out_refs, options});
  std::vector<Buffer> found;
  for (const ArrayRef& a : out_refs) copy(a, found.emplace_back(p, count, a.components).ref(), l.stream);
  return worst_of<Real>(r, count,
                        [&](int k, int d, int i) { return static_cast<double>(found[k].component<Real>(d)[i]); });
}

}  // namespace featherstorm::testing
