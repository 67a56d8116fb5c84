#include "host/engine/robot_rows.h"

#include "core/program/differentiate.h"
#include "host/system/error.h"
#include "host/table/ops.h"

namespace featherstorm {
namespace {

OpRow row_of(int index, const Model<double>& m, const Parameters& parameters) {
  const OpInfo& info = info_of(index);
  OpRow r{index, info.name, info.summary, {}, {}, {}, info.uses_frame, info.carried};
  const auto argument = [&](const OpArray& a) {
    return OpRow::Argument{a.name, size_of(m, a.shape), shape_of(m, a.shape), a.sample, a.optional()};
  };
  r.refused = lack(m, info);
  r.on_device = info.cuda || !parameters.arrays().empty();  // with parameters, kernels are made at the first use
  for (const OpArray& a : info.in) r.in.push_back(argument(a));
  for (const auto& a : parameters.arrays()) r.in.push_back({a.name, a.components, a.shape});
  for (const OpArray& a : info.out) r.out.push_back(argument(a));
  for (const OpArray& a : info.uniform) r.uniforms.push_back(argument(a));
  if (index + 1 < op_count && info_of(index + 1).form_of == info.name) r.given = info_of(index + 1).name;
  if (!info.form_of.empty())
    for (OpRow::Argument& a : r.in) a.optional = false;  // the other form is for calls without optional inputs
  return r;
}

// The operation of a derivative. Its names are stored in `names`, which must not move them.
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

}  // namespace

RobotRows::RobotRows(const Model<double>& m, const Parameters& parameters) {
  for (int op = 0; op < op_count; op++) rows_.push_back(row_of(op, m, parameters));
  for (const OpRow& row : rows_)
    for (Derivative d : {Derivative::vjp, Derivative::jvp}) derivatives_.push_back(derivative_of(row, d, names_));
  for (const auto* rows : {&rows_, &derivatives_})
    for (const OpRow& r : *rows) by_name_[r.name] = &r;
}

const OpRow& RobotRows::find(std::string_view name) const {
  if (const auto at = by_name_.find(name); at != by_name_.end()) return *at->second;
  throw Error("there is no operation '" + std::string(name) + "'");
}

}  // namespace featherstorm
