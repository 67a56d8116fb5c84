#include "host/engine/row_call.h"

#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// The first byte of an array and one past its last byte.
std::pair<const char*, const char*> extent(const ArrayRef& a) {
  const long b = static_cast<long>(bytes_of(a.precision));
  long low = 0, high = 0;
  for (long s : {a.instance_stride * (a.instances - 1), a.component_stride * (a.components - 1)})
    (s < 0 ? low : high) += s;
  const char* p = static_cast<const char*>(a.data);
  return {p + low * b, p + (high + 1) * b};
}

bool overlap(const ArrayRef& a, const ArrayRef& b) {
  if (a.components == 0 || b.components == 0) return false;
  const auto mine = extent(a), other = extent(b);
  return other.first < mine.second && mine.first < other.second;
}

void check_numbers(const RowCall& call, const std::string& prefix, int frames) {
  const OpRow& row = call.row;
  const RunOptions& o = call.options;
  const auto require_count = [&](const char* what, std::size_t got, std::size_t expected) {
    if (got != expected)
      throw Error(prefix + "got " + std::to_string(got) + " " + what + ", expected " + std::to_string(expected));
  };
  require_count("inputs", call.in.size(), row.in.size());
  require_count("outputs", call.out.size(), row.out.size());
  std::size_t uniforms = 0;
  for (const OpRow::Argument& u : row.uniforms) uniforms += u.components;
  require_count("uniform numbers", o.uniforms.size(), uniforms);
  if (row.uses_frame && (o.frame < 0 || o.frame >= frames))
    throw Error(prefix + "frame is " + std::to_string(o.frame) + ", expected 0 to " + std::to_string(frames - 1));
  if (o.repeat < 1 || (o.repeat > 1 && !row.carried))
    throw Error(prefix + "repeat is " + std::to_string(o.repeat) + ", expected 1" + (row.carried ? " or more" : ""));
}

}  // namespace

void check(const RowCall& call, int frames) {
  const OpRow& row = call.row;
  const std::string prefix = std::string(row.name) + ": ";
  check_numbers(call, prefix, frames);
  const ArrayRef& lead = call.lead();
  const std::string as_lead = " as " + std::string(row.in.empty() ? row.out[0].name : row.in[0].name) + " is";
  const auto check_array = [&](const ArrayRef& a, const OpRow::Argument& expected) {
    const std::string what = prefix + std::string(expected.name);
    if (a.components != expected.components || a.instances != lead.instances)
      throw Error(what + " has shape " + shape_words(a.instances, a.components) + ", expected " +
                  shape_words(lead.instances, expected.components));
    if (a.precision != lead.precision)
      throw Error(what + " is " + words(a.precision) + ", expected " + words(lead.precision) + as_lead);
    if (a.device != lead.device)
      throw Error(what + " is on " + place(a.device) + ", expected " + place(lead.device) + as_lead);
    if (!a.data && a.instances * a.components > 0) throw Error(what + " is a null pointer");
  };
  if (lead.instances < 0) throw Error(prefix + "the batch has " + std::to_string(lead.instances) + " instances");
  for (std::size_t k = 0; k < call.in.size(); k++) check_array(call.in[k], row.in[k]);
  for (std::size_t k = 0; k < call.out.size(); k++) check_array(call.out[k], row.out[k]);
  if (lead.instances == 0) return;
  for (std::size_t k = 0; k < call.out.size(); k++)
    if (const ArrayRef& a = call.out[k]; (a.instances > 1 && a.components > 0 && a.instance_stride == 0) ||
                                         (a.components > 1 && a.component_stride == 0))
      throw Error(prefix + "output " + std::string(row.out[k].name) +
                  " has a stride of 0, expected a nonzero stride: every number of an output needs memory of its own");
  for (std::size_t j = 0; j < call.out.size(); j++)
    for (std::size_t k = 0; k < call.in.size(); k++)
      if (call.in[k].data == call.out[j].data && overlap(call.in[k], call.out[j]))
        throw Error(prefix + "output " + std::string(row.out[j].name) + " overlaps input " +
                    std::string(row.in[k].name));
}

}  // namespace featherstorm
