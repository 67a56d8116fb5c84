#include "host/engine/cpu_rows.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "host/assemble/assemble.h"
#include "host/compile/traced_kernel.h"
#include "host/memory/cpu_library.h"
#include "host/memory/scratch_guard.h"
#include "host/system/error.h"
#include "host/system/interruption.h"

namespace featherstorm {
namespace {

// The kernels of the requested instruction set; of the widest available one if `isa` is empty.
const KernelTable* table_for(std::string isa) {
  if (const char* set = std::getenv("FEATHERSTORM_ISA"); isa.empty() && set) isa = set;
  const std::vector<std::string> isas = available_isas();
  if (isas.empty()) throw Error("no library of CPU kernels (libfeatherstorm_cpu_*.so) was found");
  if (isa.empty()) isa = isas.front();
  if (std::find(isas.begin(), isas.end(), isa) == isas.end()) {
    std::string known;
    for (const std::string& i : isas) known += (known.empty() ? "" : ", ") + i;
    throw Error("instruction set '" + isa + "' is not available on this machine; available are: " + known);
  }
  return cpu_kernels(isa);
}

int threads_for(int asked) {
  if (asked < 0) throw Error("threads is " + std::to_string(asked) + ", expected 0 or more");
  return asked > 0 ? asked : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

bool assembling(bool asked) {
  const char* set = std::getenv("FEATHERSTORM_ASSEMBLE");
  return asked && !(set && std::string_view(set) == "0");
}

// True if a kernel can use the array in place.
bool in_place(const ArrayRef& a) {
  return a.padded && a.instance_stride == 1 && a.component_stride % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(a.data) % batch_alignment == 0;
}

// Runs the passes of a kernel in parts of some milliseconds, between which the call may be ended: a part begins with
// the carried outputs of the last one. Returns false if the call is to end.
template <class Real>
bool run_passes(const RowCall& call, const BoundKernel& bound, Array* in, const Array* out, long n, long padded,
                LongCall& running) {
  LoopParts parts(call.options.repeat);
  const long first = parts.next();
  if (!call.row.carried || parts.left() == 0) {
    bound.kernel(bound.model, in, out, call.options.repeat, 0, padded);
    return true;
  }
  const std::size_t carried = call.row.out.size();
  for (std::size_t k = 0; k < carried; k++) {
    if (!in_place(call.in[k])) continue;
    const long components = call.in[k].components, stride = padded_stride(padded, precision_of<Real>(), on_host);
    Real* own = static_cast<Real*>(scratch_stack.take(sizeof(Real) * stride * std::max(components, 1L)));
    for (long c = 0; c < components; c++)
      std::copy_n(static_cast<const Real*>(in[k].data) + c * in[k].stride, padded, own + c * stride);
    in[k] = {own, stride};
  }
  for (long part = first;; part = parts.next()) {
    bound.kernel(bound.model, in, out, part, 0, padded);
    if (parts.left() == 0) return true;
    if (running.ends()) return false;
    for (std::size_t k = 0; k < carried; k++)
      for (long c = 0; c < call.in[k].components; c++)
        std::copy_n(static_cast<const Real*>(out[k].data) + c * out[k].stride, n,
                    static_cast<Real*>(in[k].data) + c * in[k].stride);
  }
}

// Runs one block of at most block_size instances. uniform: the uniforms of the operation, in the precision of the
// kernel.
template <class Real>
void run_block(const RowCall& call, const BoundKernel& bound, const Array* uniform, long first, long n,
               LongCall& running) {
  if (running.ends()) return;
  const long padded = (n + bound.width - 1) / bound.width * bound.width;
  const long stride = padded_stride(padded, precision_of<Real>(), on_host);
  Array vi[max_arrays], vo[max_arrays];
  const ScratchGuard guard;
  const auto place = [&](const ArrayRef& a) {
    if (in_place(a)) return Array{static_cast<Real*>(a.data) + first, a.component_stride};
    return Array{scratch_stack.take(sizeof(Real) * stride * std::max(a.components, 1L)), stride};
  };
  for (std::size_t k = 0; k < call.in.size(); k++) {
    vi[k] = place(call.in[k]);
    if (!in_place(call.in[k])) gather(call.in[k], first, n, stride, static_cast<Real*>(vi[k].data));
  }
  for (std::size_t k = 0; k < call.row.uniforms.size(); k++) vi[call.in.size() + k] = uniform[k];
  for (std::size_t k = 0; k < call.out.size(); k++) vo[k] = place(call.out[k]);
  const bool done = run_passes<Real>(call, bound, vi, vo, n, padded, running);
  for (std::size_t k = 0; k < call.out.size() && done; k++)
    if (!in_place(call.out[k])) scatter(call.out[k], first, n, stride, static_cast<const Real*>(vo[k].data));
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> isas;
  for (const std::string& isa : supported_isas())
    if (cpu_kernels(isa)) isas.push_back(isa);
  return isas;
}

CpuRows::CpuRows(EngineRobot& robot)
    : robot_(robot),
      model_float_(cast<float>(robot.robot.model)),
      table_(table_for(robot.options.isa)),
      isa_(table_->name),
      threads_(threads_for(robot.options.threads)),
      assembles_(assembling(robot.options.assemble)),
      blocks_(std::make_unique<BlockThreads>(threads_)) {}

void CpuRows::run(const RowCall& call) {
  const BoundKernel bound = kernel(call.row, call.precision(), call.options.frame);
  if (call.precision() == Precision::float32) run_in_blocks<float>(call, bound);
  else run_in_blocks<double>(call, bound);
}

template <class Real>
void CpuRows::run_in_blocks(const RowCall& call, const BoundKernel& bound) const {
  const std::vector<double>& numbers = call.options.uniforms;
  const ScratchGuard guard;
  Real* value = static_cast<Real*>(scratch_stack.take(sizeof(Real) * std::max<std::size_t>(numbers.size(), 1)));
  std::copy(numbers.begin(), numbers.end(), value);
  Array uniform[max_arrays];
  for (std::size_t k = 0; k < call.row.uniforms.size(); k++)
    uniform[k] = {value, 0}, value += call.row.uniforms[k].components;
  LongCall running;
  const auto block = [&](long first, long n) { run_block<Real>(call, bound, uniform, first, n, running); };
  blocks_->for_each(call.instances(), std::ref(block));  // by reference, so that nothing is allocated
  running.rethrow();
}

BoundKernel CpuRows::kernel(const OpRow& row, Precision precision, int frame) {
  const Key key = key_of(row, precision, frame);
  std::lock_guard lock(mutex_);
  if (const BoundKernel& own = made(row, key); own.kernel) return own;
  BoundKernel& kept = any_robot_[key];
  if (kept.kernel) return kept;
  const KernelTable& table = table_of_row(row.index, row.name, table_);
  const KernelEntry& e = table.entries[row.index];
  const bool single = precision == Precision::float32;
  const auto model = std::make_shared<RunTimeModel>();
  model->frame = frame;
  model->model = single ? static_cast<const void*>(&model_float_) : &robot_.robot.model;
  return kept = {single ? e.in_float : e.in_double, model.get(), single ? table.float_width : table.double_width,
                 model};
}

// True if a kernel made from `program` may be used. With `nothing_else`, when every other kernel comes from the same
// program, a kernel may be used although it lacks numbers.
bool CpuRows::agrees(const OpRow& row, const Key& key, const Program& program, const BoundKernel& kernel,
                     const char* kind, bool nothing_else) {
  const Precision precision = std::get<2>(key);
  const KernelCheck c =
      check_kernel(row, robot_.robot, precision, std::get<3>(key), program,
                   [&](const SampledRow& inputs) { return run_sampled(kernel, precision, row, inputs); });
  robot_.record({std::string(row.name), precision, on_host, c});
  const bool serves = c.passed || (nothing_else && c.lacks_numbers);
  if (!c.passed)
    robot_.notify(std::string(row.name) + " of " + robot_.robot.name + ": the " + kind + " kernel " +
                  (serves ? "is used because there is no other, but " : "is not used: ") + c.words());
  return serves;
}

// The kernel made for the robot at its first use: assembled, or made by any means if nothing else can run the
// operation.
const BoundKernel& CpuRows::made(const OpRow& row, const Key& key) {
  const auto [at, fresh] = specialised_.try_emplace(key);
  const bool any = robot_.at_run_time(row);
  if (at->second.kernel || (!fresh && any)) return at->second;
  if (!any) {
    at->second = made_by_any_means(row, key);
    return at->second;
  }
  try {
    at->second = assembled(row, key);
  } catch (...) {  // interrupted, or out of memory: the next call begins anew
    specialised_.erase(at);
    throw;
  }
  return at->second;
}

// The assembled kernel; empty if there is none.
BoundKernel CpuRows::assembled(const OpRow& row, const Key& key) {
  if (assembles_ && can_assemble(isa_) && robot_.robot.model.nv <= max_specialised_freedoms) {
    try {
      const Program p = robot_.program(row, std::get<3>(key), max_assembled_operations);
      const BoundKernel k = assemble_program(p, std::get<2>(key), isa_);
      if (k.kernel && agrees(row, key, p, k, "assembled")) return k;
    } catch (const std::bad_alloc&) {
      throw;  // nothing is wrong with the kernel
    } catch (const std::exception& e) { robot_.notify(std::string(row.name) + " is not assembled: " + e.what()); }
  }
  return {};
}

// Assembles, compiles or interprets: the first kernel that agrees with the program is used.
BoundKernel CpuRows::made_by_any_means(const OpRow& row, const Key& key) {
  const Program p = robot_.program(row, std::get<3>(key), max_assembled_operations);
  const auto notice = [this](const std::string& what) { robot_.notify(what); };
  const Precision precision = std::get<2>(key);
  for (bool assemble : {true, false}) {
    if (assemble && !assembles_) continue;
    const BoundKernel k = traced_kernel(p, precision, isa_, assemble, notice);
    if (agrees(row, key, p, k, assemble ? "assembled" : "compiled", true)) return k;
  }
  const BoundKernel k = interpret_program(p, precision);
  if (agrees(row, key, p, k, "interpreted", true)) return k;
  throw Error(std::string(row.name) + ": no kernel for this robot agrees with the algorithm in double");
}

bool CpuRows::specialise(const KernelName& name) {
  const OpRow& row = name.row;
  const Key key = key_of(row, name.precision, name.frame);
  HostCompiler* compiler = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (made(row, key).kernel) return true;
    if (!compiler_) {
      CompileOptions options;
      options.notice = [this](const std::string& what) { robot_.notify(what); };
      compiler_ = std::make_unique<HostCompiler>(options);
    }
    compiler = compiler_.get();
  }
  // meanwhile other threads run the existing kernels
  if (!compiler->missing().empty()) {
    robot_.notify("specialised kernels are not used: " + compiler->missing());
    return false;
  }
  const Program p = robot_.program(row, std::get<3>(key));
  const int width = name.precision == Precision::float32 ? table_->float_width : table_->double_width;
  const BoundKernel k = compile_program(p, name.precision, width, *compiler);
  std::lock_guard lock(mutex_);
  if (!k.kernel || !agrees(row, key, p, k, "compiled")) return false;
  BoundKernel& kept = specialised_[key];
  if (!kept.kernel) kept = k;  // a kernel in use stays
  return true;
}

bool CpuRows::specialised(const KernelName& name) const {
  std::lock_guard lock(mutex_);
  const auto found = specialised_.find(key_of(name.row, name.precision, name.frame));
  return found != specialised_.end() && found->second.kernel;
}

}  // namespace featherstorm
