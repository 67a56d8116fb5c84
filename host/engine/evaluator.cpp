#include "host/engine/evaluator.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "host/engine/cpu_rows.h"
#include "host/engine/cuda_rows.h"

namespace featherstorm {
namespace {

// True if exactly the optional inputs are missing.
bool leaves_out(const OpRow& row, const std::vector<ArrayRef>& in) {
  const auto optional = std::count_if(row.in.begin(), row.in.end(), [](const auto& a) { return a.optional; });
  return optional > 0 && in.size() + static_cast<std::size_t>(optional) == row.in.size();
}

// The inputs, with an array of zeros for each optional input.
std::vector<ArrayRef> with_zeros(const OpRow& row, std::vector<ArrayRef> in, const std::vector<ArrayRef>& out) {
  static double zero = 0;  // the value of every element, because the strides are 0
  const ArrayRef lead = in.empty() ? out.front() : in.front();
  for (std::size_t k = 0; k < row.in.size(); k++) {
    if (!row.in[k].optional) continue;
    if (lead.device != on_host)
      throw Error(std::string(row.name) + ": " + std::string(row.in[k].name) +
                  " is missing; it is optional only on the CPU");
    in.insert(in.begin() + static_cast<long>(k), {&zero, lead.precision, lead.instances, row.in[k].components, 0, 0});
  }
  return in;
}

void require_row(const OpRow& row) {
  if (!row.refused.empty()) throw Error(std::string(row.name) + ": " + std::string(row.refused));
}

}  // namespace

struct Evaluator::Implementation {
  EngineRobot robot;
  CpuRows cpu;
  CudaRows cuda;
  std::mutex mutex;  // guards `kept`
  std::map<std::string, std::shared_ptr<const void>> kept;

  Implementation(const Robot& given, EvaluatorOptions options)
      : robot(given, std::move(options)), cpu(robot), cuda(robot) {}
  RowBackend& backend(int device) {
    if (device == on_host) return cpu;
    return cuda;
  }
};

Evaluator::Evaluator(const Robot& robot, EvaluatorOptions options)
    : self_(std::make_unique<Implementation>(robot, std::move(options))) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;

const Robot& Evaluator::robot() const { return self_->robot.robot; }
const std::vector<OpRow>& Evaluator::ops() const { return self_->robot.rows.all(); }
const OpRow& Evaluator::op(std::string_view name) const { return self_->robot.rows.find(name); }
std::vector<CheckedKernel> Evaluator::checks() const { return self_->robot.checks(); }
void Evaluator::notify(const std::string& what) const { self_->robot.notify(what); }
std::shared_ptr<const void> Evaluator::kept(const std::string& name,
                                            const std::function<std::shared_ptr<const void>()>& make) const {
  const std::lock_guard lock(self_->mutex);
  std::shared_ptr<const void>& found = self_->kept[name];
  if (!found) found = make();
  return found;
}
const std::string& Evaluator::isa() const { return self_->cpu.isa(); }
const std::vector<std::string>& Evaluator::parameters() const { return self_->robot.options.parameters; }
int Evaluator::threads() const { return self_->cpu.threads(); }
bool Evaluator::assembles() const { return self_->cpu.assembles(); }

void Evaluator::run(std::string_view name, const std::vector<ArrayRef>& in, const std::vector<ArrayRef>& out,
                    const RunOptions& options) {
  const OpRow& row = op(name);
  require_row(row);
  if (in.size() > row.in.size() && !row.given.empty()) return run(row.given, in, out, options);
  if (leaves_out(row, in)) return run(name, with_zeros(row, in, out), out, options);
  const RowCall call{row, in, out, options};
  check(call, robot().model.nf);
  if (call.instances() > 0) self_->backend(call.device()).run(call);
}

BoundKernel Evaluator::kernel(std::string_view name, Precision precision, int frame) {
  const OpRow& row = op(name);
  require_row(row);
  return self_->cpu.kernel(row, precision, frame);
}

Program Evaluator::program(std::string_view name, int frame) const {
  const OpRow& row = op(name);
  require_row(row);
  return specialised_program(self_->robot.operation(row, row.uses_frame ? frame : 0), robot().model);
}

bool Evaluator::specialise(std::string_view name, Precision precision, int frame, int device) {
  const OpRow& row = op(name);
  require_row(row);
  try {
    return self_->backend(device).specialise({row, precision, frame, device});
  } catch (const std::bad_alloc&) { throw; } catch (const std::exception& e) {
    self_->robot.notify(std::string(name) + " is not specialised" + (device == on_host ? "" : " for " + place(device)) +
                        ": " + e.what());
    return false;
  }
}

bool Evaluator::specialised(std::string_view name, Precision precision, int frame, int device) const {
  return self_->backend(device).specialised({op(name), precision, frame, device});
}

}  // namespace featherstorm
