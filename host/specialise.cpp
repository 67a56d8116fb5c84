#include "host/specialise.h"

#include <sstream>

#include "core/emit/emit.h"
#include "core/trace/count.h"
#include "core/trace/order.h"
#include "host/error.h"
#include "host/trace_op.h"

namespace featherstorm {

std::string specialised_source(int op, const Model<double>& model, int frame, Precision precision, int width) {
  const Program p = trace_best(op, model, frame);
  const Counts c = count(p, trace_order(p));
  if (c.instructions() > max_specialised_operations)
    throw Error("this robot needs " + std::to_string(c.instructions()) + " operations, more than the " +
                std::to_string(max_specialised_operations) + " that are unrolled");
  return emit(p, latency_order(p), HostVector{width, precision == Precision::float64});
}

SpecialisedKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                                    HostCompiler& compiler) {
  if (!compiler.missing().empty()) return {};
  std::vector<std::string> flags;
  std::istringstream words(host_compile_options());
  for (std::string word; words >> word;) flags.push_back(word);
  flags.push_back("-mprefer-vector-width=512");
  SpecialisedKernel k;
  k.library = compiler.compile_and_load(specialised_source(op, model, frame, precision, width), flags);
  if (!k.library) return {};
  k.kernel = reinterpret_cast<Kernel>(k.library->kernel());
  k.width = width;
  return k;
}

}  // namespace featherstorm
