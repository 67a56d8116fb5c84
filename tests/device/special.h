// Evaluators with specialised kernels on the device of the tests, and arrays of operations on it.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/memory/device.h"
#include "tests/device/control.h"
#include "tests/support/oracles/op_cases.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::testing {

// An evaluator with its own cache folder and dispatch rows. `told` has its notices, one per line.
struct Special {
  test::Scratch scratch;
  test::Environment cache{"FEATHERSTORM_CACHE", (scratch / "cache").string()};
  test::Environment rows{"FEATHERSTORM_DISPATCH", (scratch / "rows.csv").string()};
  std::string told;
  Evaluator e;
  explicit Special(const Robot& robot, const std::string& dispatch = "",
                   std::function<void(Program&)> before_making = {})
      : e(robot, options(dispatch, std::move(before_making))) {}
  EvaluatorOptions options(const std::string& dispatch, std::function<void(Program&)> before_making) {
    test::write_file(scratch / "rows.csv", dispatch);
    EvaluatorOptions o;
    o.before_making = std::move(before_making);
    o.notice = [this](const std::string& s) { told += s + "\n"; };
    return o;
  }
  std::string text_of_kernels() const {
    std::string all;
    for (const auto& f : std::filesystem::directory_iterator(scratch / "cache"))
      if (f.path().extension() == ".cu") all += test::read_file(f.path());
    return all;
  }
};

// Arrays of n instances on the device, whose components are `stride` numbers apart.
template <class Real> class DeviceArrays {
 public:
  DeviceArrays(long n, long stride) : n_(n), stride_(stride) {}

  // component c at instance i is number(c, i), also after the last instance
  template <class Number> ArrayRef add(long components, Number&& number) {
    const Precision p = precision_of<Real>();
    Buffer host(p, stride_ * std::max(components, 1L), 1);
    for (long k = 0; k < stride_ * components; k++) host.component<Real>(0)[k] = number(k / stride_, k % stride_);
    Buffer& there = memory_.emplace_back(p, host.ref().instances, 1, device);
    copy(host.ref(), there.ref());
    ArrayRef r = there.ref();
    r.instances = n_, r.components = components, r.instance_stride = 1, r.component_stride = stride_;
    return r;
  }
  // the inputs of an operation, poisoned after the last instance
  template <class Op> std::vector<ArrayRef> add_inputs(const Model<double>& m) {
    std::vector<std::vector<std::vector<double>>> inputs;
    for (long i = 0; i < n_; i++) inputs.push_back(op_inputs<Op>(m, 1000 + i));
    std::vector<ArrayRef> refs;
    for (std::size_t k = 0; k < Op::info.in.size(); k++)
      refs.push_back(add(size_of(m, Op::info.in[k].shape),
                         [&](long c, long i) { return i < n_ ? static_cast<Real>(inputs[i][k][c]) : Real(NAN); }));
    return refs;
  }
  // the outputs, filled with `nothing`
  template <class Op> std::vector<ArrayRef> add_outputs(const Model<double>& m) {
    std::vector<ArrayRef> refs;
    for (const OpArray& a : Op::info.out) refs.push_back(add(size_of(m, a.shape), [](long, long) { return nothing; }));
    return refs;
  }
  // all numbers of array k, in the order of allocation
  std::vector<Real> numbers(std::size_t k) const {
    const Precision p = precision_of<Real>();
    Buffer host(p, memory_[k].ref().instances, 1);
    copy(memory_[k].ref(), host.ref());
    const Real* x = host.template component<Real>(0);
    return {x, x + host.ref().instances};
  }
  std::size_t count() const { return memory_.size(); }

  static constexpr Real nothing = 12345;

 private:
  long n_, stride_;
  std::vector<Buffer> memory_;
};

// The uniforms of an operation, one after another.
template <class Op> std::vector<double> flat_uniforms(const Model<double>& m) {
  std::vector<double> all;
  for (const auto& u : op_uniforms<Op>(m)) all.insert(all.end(), u.begin(), u.end());
  return all;
}

}  // namespace featherstorm::testing
