#include "host/engine/evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/program/differentiate.h"
#include "core/scalar/scratch.h"
#include "host/assemble/assemble.h"
#include "host/compile/traced_kernel.h"
#include "host/engine/device_evaluator.h"
#include "host/memory/blocks.h"
#include "host/memory/cpu_library.h"
#include "host/table/ops.h"
#include "host/trace/specialised_program.h"

namespace featherstorm {
namespace {

OpRow row_of(int index, const Model<double>& m, const Parameters& parameters) {
  const OpInfo& info = info_of(index);
  OpRow r{index, info.name, info.summary, {}, {}, {}, info.uses_frame, info.carried};
  const auto argument = [&](const OpArray& a) {
    return OpRow::Argument{a.name, size_of(m, a.shape), shape_of(m, a.shape), a.sample, a.optional()};
  };
  r.refused = lack(m, info);
  r.on_device = info.cuda || !parameters.arrays().empty();  // with parameters kernels are made at the first use
  for (const OpArray& a : info.in) r.in.push_back(argument(a));
  for (const auto& a : parameters.arrays()) r.in.push_back({a.name, a.components, a.shape});
  for (const OpArray& a : info.out) r.out.push_back(argument(a));
  for (const OpArray& a : info.uniform) r.uniforms.push_back(argument(a));
  if (index + 1 < op_count && info_of(index + 1).form_of == info.name) r.given = info_of(index + 1).name;
  if (!info.form_of.empty())
    for (OpRow::Argument& a : r.in) a.optional = false;  // the other form is for calls without
  return r;
}

// The row of a derivative; its names go to `names`, which must not move them.
OpRow derivative_of(const OpRow& f, Derivative d, std::deque<std::string>& names) {
  const auto named = [&](std::string_view name, const char* suffix) {
    return std::string_view(names.emplace_back(std::string(name) + suffix));
  };
  OpRow r = f;
  r.derivative = d, r.carried = false, r.on_device = true;
  const bool reverse = d == Derivative::vjp;
  r.name = named(f.name, reverse ? "_vjp" : "_jvp");
  r.summary = reverse ? "the cotangents of the inputs" : "the tangents of the outputs";
  const char* suffix = reverse ? cotangent_suffix : tangent_suffix;
  for (const OpRow::Argument& a : reverse ? f.out : f.in)
    r.in.push_back({named(a.name, suffix), a.components, a.shape});
  for (OpRow::Argument& a : r.in) a.optional = false;
  r.given = {};
  r.out.clear();
  for (const OpRow::Argument& a : reverse ? f.in : f.out)
    r.out.push_back({named(a.name, suffix), a.components, a.shape});
  return r;
}

std::string shape(long instances, long components) {
  return "(" + std::to_string(instances) + ", " + std::to_string(components) + ")";
}

std::string where(int device) { return device == on_host ? "the host" : "CUDA device " + std::to_string(device); }

// First and one past last byte an array occupies.
std::pair<const char*, const char*> extent(const ArrayRef& a) {
  const long b = static_cast<long>(bytes_of(a.precision));
  long low = 0, high = 0;
  for (long s : {a.instance_stride * (a.instances - 1), a.component_stride * (a.components - 1)})
    (s < 0 ? low : high) += s;
  const char* p = static_cast<const char*>(a.data);
  return {p + low * b, p + (high + 1) * b};
}

// Whether a kernel may work on the array where it lies.
bool in_place(const ArrayRef& a) {
  return a.padded && a.instance_stride == 1 && a.component_stride % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(a.data) % batch_alignment == 0;
}

}  // namespace

struct Evaluator::Implementation {
  Robot robot;
  EvaluatorOptions options;
  Model<float> model_float;
  Parameters parameters;
  std::vector<OpRow> rows, derivatives;
  std::deque<std::string> names;  // of the derivatives and their arrays
  const KernelTable* table = nullptr;
  DeviceEvaluator devices;
  std::unique_ptr<BlockThreads> blocks;
  std::mutex mutex;  // of the members below
  std::unique_ptr<HostCompiler> compiler;
  // (operation, derivative, precision, frame) -> its kernel for this robot; no kernel where none could be made
  using Key = std::tuple<int, Derivative, Precision, int>;
  std::map<Key, BoundKernel> specialised;
  std::map<Key, BoundKernel> any_robot;  // kernels that take the model as data
  std::vector<CheckedKernel> checks;
  std::mutex telling;  // of told
  std::set<std::string> told;

  void notify(const std::string& what) {
    std::lock_guard lock(telling);
    if (told.insert(what).second && options.notice) options.notice(what);
  }

  // Whether all inputs are given but the optional ones.
  static bool leaves_out(const OpRow& row, const std::vector<ArrayRef>& in) {
    const auto optional = std::count_if(row.in.begin(), row.in.end(), [](const auto& a) { return a.optional; });
    return optional > 0 && in.size() + static_cast<std::size_t>(optional) == row.in.size();
  }
  // The inputs with zeros in the place of the optional ones.
  static std::vector<ArrayRef> with_zeros(const OpRow& row, std::vector<ArrayRef> in,
                                          const std::vector<ArrayRef>& out) {
    static double zero = 0;  // every element of such an array
    const ArrayRef lead = in.empty() ? out.front() : in.front();
    for (std::size_t k = 0; k < row.in.size(); k++) {
      if (!row.in[k].optional) continue;
      if (lead.device != on_host)
        throw Error(std::string(row.name) + ": " + std::string(row.in[k].name) +
                    " is not given, which it must be on a device");
      in.insert(in.begin() + static_cast<long>(k), {&zero, lead.precision, lead.instances, row.in[k].components, 0, 0});
    }
    return in;
  }

  // Whether kernels that take the model as data can run this row.
  bool at_run_time(const OpRow& row) const { return row.derivative == Derivative::none && parameters.arrays().empty(); }
  static Key key_of(const OpRow& row, Precision precision, int frame) {
    return {row.index, row.derivative, precision, row.uses_frame ? frame : 0};
  }
  Operation operation(const Key& key) const {
    return {std::get<0>(key), std::get<3>(key), std::get<1>(key), parameters};
  }

  Program program_for(const Key& key, int most = max_compiled_operations) const {
    Program p = specialised_program(operation(key), robot.model, most);
    if (options.before_making) options.before_making(p);
    return p;
  }

  // Whether a kernel that was made from `program` may serve. Call with the mutex held.
  bool agrees(const OpRow& row, const Key& key, const Program& program, const BoundKernel& kernel, const char* kind) {
    const Precision precision = std::get<2>(key);
    const KernelCheck c = check_kernel(row, robot, precision, std::get<3>(key), program, [&](const SampledRow& inputs) {
      return run_sampled(kernel, precision, row, inputs);
    });
    checks.push_back({std::string(row.name), precision, on_host, c});
    if (!c.passed)
      notify(std::string(row.name) + " of " + robot.name + ": the " + kind + " kernel is not used: " + c.words());
    return c.passed;
  }

  // The kernel made for the robot, at its first use: assembled, or where nothing else can run the row, by any means. Call
  // with the mutex held.
  const BoundKernel& made(const OpRow& row, const Key& key) {
    const auto [at, fresh] = specialised.try_emplace(key);
    if (at->second.kernel || (!fresh && at_run_time(row))) return at->second;
    if (!at_run_time(row)) {
      at->second = made_by_any_means(row, key);
    } else if (options.assemble && can_assemble(table->name) && robot.model.nv <= max_specialised_freedoms) {
      try {
        const Program p = program_for(key, max_assembled_operations);
        const BoundKernel k = assemble_program(p, std::get<2>(key), table->name);
        if (k.kernel && agrees(row, key, p, k, "assembled")) at->second = k;
      } catch (const std::exception& e) { notify(std::string(row.name) + " is not assembled: " + e.what()); }
    }
    return at->second;
  }

  // Throws Error where it cannot be made, or differs from the text in double.
  void specialise_on_device(const OpRow& row, const Key& key, int device) {
    const auto notice = [this](const std::string& what) { notify(what); };
    const auto made =
        devices.specialise(operation(key), robot, row, device, std::get<2>(key), notice, options.before_making);
    std::lock_guard lock(mutex);
    for (const KernelCheck& c : made) checks.push_back({std::string(row.name), std::get<2>(key), device, c});
  }

  // Assembled, compiled or interpreted: the first that agrees with the program.
  BoundKernel made_by_any_means(const OpRow& row, const Key& key) {
    const Program p = program_for(key, max_assembled_operations);
    const auto notice = [this](const std::string& what) { notify(what); };
    const Precision precision = std::get<2>(key);
    for (bool assemble : {true, false}) {
      if (assemble && !options.assemble) continue;
      const BoundKernel k = traced_kernel(p, precision, table->name, assemble, notice);
      if (agrees(row, key, p, k, assemble ? "assembled" : "compiled")) return k;
    }
    const BoundKernel k = interpret_program(p, precision);
    if (agrees(row, key, p, k, "interpreted")) return k;
    throw Error(std::string(row.name) + ": no kernel for this robot agrees with the text in double");
  }

  // One block of at most block_size instances through the caches.
  template <class Real>
  void run_block(const BoundKernel& bound, const std::vector<ArrayRef>& in, const Array* uniform, int uniforms,
                 const std::vector<ArrayRef>& out, long repeat, long first, long n) {
    const long padded = (n + bound.width - 1) / bound.width * bound.width;
    Array vi[max_arrays], vo[max_arrays];
    const ScratchStack::Mark mark = scratch_stack.mark();
    auto place = [&](const ArrayRef& a) {
      if (in_place(a)) return Array{static_cast<Real*>(a.data) + first, a.component_stride};
      return Array{scratch_stack.take(sizeof(Real) * padded * std::max(a.components, 1L)), padded};
    };
    for (std::size_t k = 0; k < in.size(); k++) {
      vi[k] = place(in[k]);
      if (!in_place(in[k])) gather(in[k], first, n, padded, static_cast<Real*>(vi[k].data));
    }
    for (int k = 0; k < uniforms; k++) vi[in.size() + k] = uniform[k];
    for (std::size_t k = 0; k < out.size(); k++) vo[k] = place(out[k]);
    bound.kernel(bound.model, vi, vo, repeat, 0, padded);
    for (std::size_t k = 0; k < out.size(); k++)
      if (!in_place(out[k])) scatter(out[k], first, n, padded, static_cast<const Real*>(vo[k].data));
    scratch_stack.give_back(mark);
  }

  template <class Real>
  void run(const OpRow& row, const BoundKernel& bound, const std::vector<ArrayRef>& in,
           const std::vector<ArrayRef>& out, const RunOptions& o, long instances) {
    const ScratchStack::Mark mark = scratch_stack.mark();
    Real* value = static_cast<Real*>(scratch_stack.take(sizeof(Real) * std::max<std::size_t>(o.uniforms.size(), 1)));
    std::copy(o.uniforms.begin(), o.uniforms.end(), value);
    Array uniform[max_arrays];
    std::size_t at = 0;
    for (std::size_t k = 0; k < row.uniforms.size(); k++)
      uniform[k] = {value + at, 0}, at += row.uniforms[k].components;
    const auto block = [&](long first, long n) {
      run_block<Real>(bound, in, uniform, static_cast<int>(row.uniforms.size()), out, o.repeat, first, n);
    };
    blocks->for_each(instances, std::ref(block));  // by reference: nothing is allocated
    scratch_stack.give_back(mark);
  }
};

std::vector<std::string> available_isas() {
  std::vector<std::string> isas;
  for (const std::string& isa : supported_isas())
    if (cpu_kernels(isa)) isas.push_back(isa);
  return isas;
}

Evaluator::Evaluator(const Robot& robot, EvaluatorOptions options) : self_(std::make_unique<Implementation>()) {
  Implementation& s = *self_;
  s.robot = robot;
  s.options = std::move(options);
  s.model_float = cast<float>(robot.model);
  s.parameters = Parameters(robot, s.options.parameters);
  for (int op = 0; op < op_count; op++) s.rows.push_back(row_of(op, robot.model, s.parameters));
  for (const OpRow& row : s.rows)
    for (Derivative d : {Derivative::vjp, Derivative::jvp}) s.derivatives.push_back(derivative_of(row, d, s.names));
  std::string isa = s.options.isa;
  if (const char* set = std::getenv("FEATHERSTORM_ISA"); isa.empty() && set) isa = set;
  const std::vector<std::string> isas = available_isas();
  if (isas.empty()) throw Error("no library of CPU kernels (libfeatherstorm_cpu_*.so) was found");
  if (isa.empty()) isa = isas.front();
  if (std::find(isas.begin(), isas.end(), isa) == isas.end()) {
    std::string known;
    for (const std::string& i : isas) known += (known.empty() ? "" : ", ") + i;
    throw Error("instruction set '" + isa + "' is not available here; there are: " + known);
  }
  s.table = cpu_kernels(isa);
  if (const char* set = std::getenv("FEATHERSTORM_ASSEMBLE"); set && std::string_view(set) == "0")
    s.options.assemble = false;
  if (s.options.threads < 0) throw Error("threads is " + std::to_string(s.options.threads) + ", expected 0 or more");
  if (s.options.threads == 0) s.options.threads = std::max(1u, std::thread::hardware_concurrency());
  s.blocks = std::make_unique<BlockThreads>(s.options.threads);
}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;

const Robot& Evaluator::robot() const { return self_->robot; }
const std::vector<OpRow>& Evaluator::ops() const { return self_->rows; }
const std::string& Evaluator::isa() const {
  static const std::string names[] = {"avx512", "avx2", "base"};
  for (const std::string& n : names)
    if (n == self_->table->name) return n;
  return names[2];
}
std::vector<CheckedKernel> Evaluator::checks() const {
  std::lock_guard lock(self_->mutex);
  return self_->checks;
}
int Evaluator::threads() const { return self_->options.threads; }
bool Evaluator::assembles() const { return self_->options.assemble; }

const OpRow& Evaluator::op(std::string_view name) const {
  for (const auto* rows : {&self_->rows, &self_->derivatives})
    for (const OpRow& r : *rows)
      if (r.name == name) return r;
  throw Error("there is no operation '" + std::string(name) + "'");
}

void Evaluator::run(std::string_view name, const std::vector<ArrayRef>& in, const std::vector<ArrayRef>& out,
                    const RunOptions& o) {
  Implementation& s = *self_;
  const OpRow& row = op(name);
  const std::string prefix = std::string(name) + ": ";
  if (!row.refused.empty()) throw Error(prefix + std::string(row.refused));
  if (in.size() > row.in.size() && !row.given.empty()) return run(row.given, in, out, o);
  if (s.leaves_out(row, in)) return run(name, s.with_zeros(row, in, out), out, o);
  auto require_count = [&](const char* what, std::size_t got, std::size_t expected) {
    if (got != expected)
      throw Error(prefix + "got " + std::to_string(got) + " " + what + ", expected " + std::to_string(expected));
  };
  require_count("inputs", in.size(), row.in.size());
  require_count("outputs", out.size(), row.out.size());
  std::size_t uniforms = 0;
  for (const OpRow::Argument& u : row.uniforms) uniforms += u.components;
  require_count("uniform numbers", o.uniforms.size(), uniforms);
  if (row.uses_frame && (o.frame < 0 || o.frame >= s.robot.model.nf))
    throw Error(prefix + "frame is " + std::to_string(o.frame) + ", expected 0 to " +
                std::to_string(s.robot.model.nf - 1));
  if (o.repeat < 1 || (o.repeat > 1 && !row.carried))
    throw Error(prefix + "repeat is " + std::to_string(o.repeat) + ", expected 1" + (row.carried ? " or more" : ""));
  const ArrayRef& lead = in.empty() ? out.front() : in.front();
  const long instances = lead.instances;
  const Precision precision = lead.precision;
  auto check = [&](const ArrayRef& a, const OpRow::Argument& expected) {
    if (a.components != expected.components || a.instances != instances)
      throw Error(prefix + std::string(expected.name) + " has shape " + shape(a.instances, a.components) +
                  ", expected " + shape(instances, expected.components));
    if (a.precision != precision)
      throw Error(prefix + std::string(expected.name) + " is " +
                  (a.precision == Precision::float32 ? "float32, expected float64" : "float64, expected float32") +
                  " as " + std::string(row.in.empty() ? row.out[0].name : row.in[0].name) + " is");
    if (a.device != lead.device)
      throw Error(prefix + std::string(expected.name) + " is on " + where(a.device) + ", expected " +
                  where(lead.device) + " as " + std::string(row.in.empty() ? row.out[0].name : row.in[0].name) + " is");
    if (!a.data && a.instances * a.components > 0)
      throw Error(prefix + std::string(expected.name) + " is a null pointer");
  };
  if (instances < 0) throw Error(prefix + "the batch has " + std::to_string(instances) + " instances");
  for (std::size_t k = 0; k < in.size(); k++) check(in[k], row.in[k]);
  for (std::size_t k = 0; k < out.size(); k++) check(out[k], row.out[k]);
  if (instances == 0) return;
  for (std::size_t j = 0; j < out.size(); j++) {
    if (out[j].components == 0) continue;
    const auto mine = extent(out[j]);
    auto overlaps = [&](const ArrayRef& a) {
      if (a.components == 0) return false;
      const auto other = extent(a);
      return other.first < mine.second && mine.first < other.second;
    };
    for (std::size_t k = 0; k < in.size(); k++)
      if (overlaps(in[k]) && in[k].data == out[j].data)
        throw Error(prefix + "output " + std::string(row.out[j].name) + " overlaps input " +
                    std::string(row.in[k].name));
  }

  if (lead.device != on_host && !s.at_run_time(row))  // no kernels that take the model as data
    s.specialise_on_device(row, s.key_of(row, precision, o.frame), lead.device);
  if (lead.device != on_host) return s.devices.run(s.robot.model, row, lead.device, in, out, o, s.at_run_time(row));

  const BoundKernel bound = kernel(name, precision, o.frame);
  if (precision == Precision::float32) s.run<float>(row, bound, in, out, o, instances);
  else s.run<double>(row, bound, in, out, o, instances);
}

BoundKernel Evaluator::kernel(std::string_view name, Precision precision, int frame) {
  Implementation& s = *self_;
  const OpRow& row = op(name);
  if (!row.refused.empty()) throw Error(std::string(name) + ": " + std::string(row.refused));
  {
    std::lock_guard lock(s.mutex);
    const BoundKernel& made = s.made(row, s.key_of(row, precision, frame));
    if (made.kernel) return made;
  }
  std::lock_guard lock(s.mutex);
  BoundKernel& kept = s.any_robot[s.key_of(row, precision, frame)];
  if (kept.kernel) return kept;
  const KernelTable& table = table_of_row(row.index, name, s.table);
  const KernelEntry& e = table.entries[row.index];
  const auto model = std::make_shared<RunTimeModel>();
  model->frame = frame;
  if (precision == Precision::float32) {
    model->model = &s.model_float;
    return kept = {e.in_float, model.get(), table.float_width, model};
  }
  model->model = &s.robot.model;
  return kept = {e.in_double, model.get(), table.double_width, model};
}

Program Evaluator::program(std::string_view name, int frame) const {
  const OpRow& row = op(name);
  if (!row.refused.empty()) throw Error(std::string(name) + ": " + std::string(row.refused));
  return specialised_program(self_->operation(self_->key_of(row, Precision::float64, frame)), self_->robot.model);
}

bool Evaluator::specialise(std::string_view name, Precision precision, int frame, int device) {
  Implementation& s = *self_;
  const OpRow& row = op(name);
  if (!row.refused.empty()) throw Error(std::string(name) + ": " + std::string(row.refused));
  const auto notify = [&s](const std::string& what) { s.notify(what); };
  const Implementation::Key key = s.key_of(row, precision, frame);
  if (device != on_host) try {
      s.specialise_on_device(row, key, device);
      return true;
    } catch (const std::exception& e) {
      s.notify(std::string(name) + " is not specialised for CUDA device " + std::to_string(device) + ": " + e.what());
      return false;
    }
  const int width = precision == Precision::float32 ? s.table->float_width : s.table->double_width;
  HostCompiler* compiler = nullptr;
  {
    std::lock_guard lock(s.mutex);
    if (s.made(row, key).kernel) return true;
    if (!s.compiler) {
      CompileOptions options;
      options.notice = notify;
      s.compiler = std::make_unique<HostCompiler>(options);
    }
    compiler = s.compiler.get();
  }
  try {  // meanwhile other threads run what there is
    if (!compiler->missing().empty()) {
      s.notify("specialised kernels are not used: " + compiler->missing());
      return false;
    }
    const Program p = s.program_for(key);
    const BoundKernel k = compile_program(p, precision, width, *compiler);
    std::lock_guard lock(s.mutex);
    if (!k.kernel || !s.agrees(row, key, p, k, "compiled")) return false;
    BoundKernel& kept = s.specialised[key];
    if (!kept.kernel) kept = k;  // a kernel that is in use stays
    return true;
  } catch (const std::exception& e) { s.notify(std::string(name) + " is not specialised: " + e.what()); }
  return false;
}

bool Evaluator::specialised(std::string_view name, Precision precision, int frame, int device) const {
  const OpRow& row = op(name);
  if (device != on_host) return self_->devices.specialised(row, device, precision, row.uses_frame ? frame : 0);
  std::lock_guard lock(self_->mutex);
  const auto found = self_->specialised.find(self_->key_of(row, precision, frame));
  return found != self_->specialised.end() && found->second.kernel;
}

}  // namespace featherstorm
