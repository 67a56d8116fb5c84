#include "host/trace/specialised_program.h"

#include <stdexcept>

#include "core/collision/convex_pairs.h"
#include "core/program/count.h"
#include "core/program/order.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

Error too_large(const std::string& what, const std::string& needed, int most) {
  return Error("this robot " + what + " " + needed + ", more than the " + std::to_string(most) + " that are unrolled");
}

}  // namespace

Program specialised_program(const Operation& o, const Model<double>& model, int most) {
  if (model.nv > max_specialised_freedoms)
    throw too_large("has", std::to_string(model.nv) + " degrees of freedom", max_specialised_freedoms);
  try {
    Program p = trace_best(o.op, model, o.frame, o.derivative, o.parameters, most);
    const int operations = count(p, trace_order(p)).instructions();
    if (operations > most) throw too_large("needs", std::to_string(operations) + " operations", most);
    return p;
  } catch (const NoTrace& error) {
    throw Error(error.what());
  } catch (const std::length_error&) {  // the trace was given up
    throw too_large("needs", "over " + std::to_string(4L * most) + " operations", most);
  }
}

}  // namespace featherstorm
