// Symbols: the tracing scalar in Python. A Symbol knows its trace, so any thread may use it at any time. After the
// trace is closed, using it raises an error.
#include <algorithm>

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>
#include <memory>

#include "bindings.h"
#include "core/collision/ray.h"
#include "core/model/builder.h"
#include "core/program/count.h"
#include "core/program/differentiate.h"
#include "core/program/order.h"
#include "host/assemble/assemble.h"
#include "host/trace/trace_op.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

struct Trace {
  Program program;
  bool open = true;
};

struct Symbol {
  std::shared_ptr<Trace> trace;
  Edge edge;
  bool condition;
};

// A symbol or a number as an operand in a trace; numbers need the trace's Tracing scope.
struct Operand {
  Edge edge;
  bool condition;

  Expr number() const { return condition ? select(ExprCondition(edge), Expr(1.0), Expr(0.0)) : Expr(edge); }
  ExprCondition truth() const {
    if (condition) return ExprCondition(edge);
    const Expr x(edge);
    return x < Expr(0.0) || Expr(0.0) < x;
  }
};

void check_open(const Trace& trace) {
  if (!trace.open)
    throw std::runtime_error("a traced value was used after its function had been traced; do not store traced values");
}

Operand operand(nb::handle h, const std::shared_ptr<Trace>& trace) {
  if (Symbol* s; nb::try_cast(h, s) && s) {
    if (s->trace != trace) throw std::runtime_error("an operation has traced values of two different functions");
    return {s->edge, s->condition};
  }
  double x;
  if (!nb::try_cast(h, x))
    throw nb::type_error(("an operation with a traced value has an operand of type " +
                          std::string(nb::repr(h.type()).c_str()) + ", expected a number")
                             .c_str());
  if (!std::isfinite(x))
    throw Error("an operation with a traced value has the operand " + std::to_string(x) +
                ", expected a finite number; leave out infinite limits (np.isfinite), or use np.minimum, "
                "np.maximum or np.clip, which accept them");
  return {Expr(x).edge(), false};
}

using Operands = const Operand*;
using Rule = Operand (*)(Operands);
Operand number(Expr x) { return {x.edge(), false}; }
Operand truth(ExprCondition c) { return {c.edge(), true}; }

struct Function {
  int arity;
  Rule rule;
};
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all = {
      {"negative", {1, [](Operands x) { return number(-x[0].number()); }}},
      {"sqrt", {1, [](Operands x) { return number(sqrt(x[0].number())); }}},
      {"sin", {1, [](Operands x) { return number(sin(x[0].number())); }}},
      {"cos", {1, [](Operands x) { return number(cos(x[0].number())); }}},
      {"exp", {1, [](Operands x) { return number(exp(x[0].number())); }}},
      {"log", {1, [](Operands x) { return number(log(x[0].number())); }}},
      {"arcsin", {1, [](Operands x) { return number(asin(x[0].number())); }}},
      {"arccos", {1, [](Operands x) { return number(acos(x[0].number())); }}},
      {"absolute", {1, [](Operands x) { return number(abs(x[0].number())); }}},
      {"floor", {1, [](Operands x) { return number(floor(x[0].number())); }}},
      {"add", {2, [](Operands x) { return number(x[0].number() + x[1].number()); }}},
      {"subtract", {2, [](Operands x) { return number(x[0].number() - x[1].number()); }}},
      {"multiply", {2, [](Operands x) { return number(x[0].number() * x[1].number()); }}},
      {"divide", {2, [](Operands x) { return number(x[0].number() / x[1].number()); }}},
      {"minimum", {2, [](Operands x) { return number(min(x[0].number(), x[1].number())); }}},
      {"maximum", {2, [](Operands x) { return number(max(x[0].number(), x[1].number())); }}},
      {"arctan2", {2, [](Operands x) { return number(atan2(x[0].number(), x[1].number())); }}},
      {"less", {2, [](Operands x) { return truth(x[0].number() < x[1].number()); }}},
      {"less_equal", {2, [](Operands x) { return truth(x[0].number() <= x[1].number()); }}},
      {"logical_and", {2, [](Operands x) { return truth(x[0].truth() && x[1].truth()); }}},
      {"logical_or", {2, [](Operands x) { return truth(x[0].truth() || x[1].truth()); }}},
      {"logical_not", {1, [](Operands x) { return truth(!x[0].truth()); }}},
      {"where", {3, [](Operands x) { return number(select(x[0].truth(), x[1].number(), x[2].number())); }}},
  };
  return all;
}

Symbol traced(const std::string& name, nb::tuple x) {
  const auto found = functions().find(name);
  if (found == functions().end()) throw nb::type_error(("no function '" + name + "' can be traced").c_str());
  if (static_cast<int>(x.size()) != found->second.arity)
    throw nb::type_error((name + " takes " + std::to_string(found->second.arity) + " values").c_str());
  std::shared_ptr<Trace> trace;
  for (nb::handle h : x)
    if (Symbol* s; !trace && nb::try_cast(h, s) && s) trace = s->trace;
  if (!trace) throw nb::type_error((name + ": expected a traced value among its arguments").c_str());
  check_open(*trace);
  Tracing scope(trace->program.graph);
  Operand all[3];
  for (std::size_t k = 0; k < x.size(); k++) all[k] = operand(x[k], trace);
  const Operand y = found->second.rule(all);
  return {trace, y.edge, y.condition};
}

Symbol unary(const char* name, nb::handle a) { return traced(name, nb::make_tuple(a)); }
Symbol binary(const char* name, nb::handle a, nb::handle b) { return traced(name, nb::make_tuple(a, b)); }

constexpr const char* no_truth =
    "a traced value is neither a truth value nor a number yet: instead of if, and, or, min, max, float use np.where, "
    "np.logical_and, np.minimum, np.maximum; build arrays of traced values with np.stack or np.concatenate";

std::vector<Expr> expressions(nb::sequence values, const std::shared_ptr<Trace>& trace) {
  std::vector<Expr> all;
  for (nb::handle h : values) all.push_back(operand(h, trace).number());
  return all;
}

nb::list symbols(const std::vector<Expr>& values, const std::shared_ptr<Trace>& trace) {
  nb::list all;
  for (Expr x : values) all.append(Symbol{trace, x.edge(), false});
  return all;
}

// The distance along a ray to a geom (core/collision/ray.h).
Symbol traced_ray(const std::shared_ptr<Trace>& trace, int type, nb::sequence size, nb::sequence p, nb::sequence v) {
  check_open(*trace);
  check_closed_ray(type);
  Tracing scope(trace->program.graph);
  const auto vector = [&](const nb::sequence& x) {
    const std::vector<Expr> n = expressions(x, trace);
    if (n.size() != 3) throw Error("ray: " + std::to_string(n.size()) + " numbers, expected 3");
    return Vec3<Expr>{n[0], n[1], n[2]};
  };
  return {trace, ray_geom<Expr>(static_cast<GeomType>(type), vector(size), vector(p), vector(v)).x.edge(), false};
}

// Records any operation of the table on traced values; returns the symbols of its outputs.
nb::list run_op(const std::shared_ptr<Trace>& trace, const Robot& robot, const OpRow& row, int frame, nb::sequence in) {
  check_open(*trace);
  Tracing scope(trace->program.graph);
  std::vector<OpRow::Argument> expected = row.in;
  expected.insert(expected.end(), row.uniforms.begin(), row.uniforms.end());
  const std::string name(row.name);
  std::vector<std::vector<Expr>> arrays;
  for (nb::handle h : in) arrays.push_back(expressions(nb::cast<nb::sequence>(h), trace));
  if (arrays.size() != expected.size())
    throw Error(name + ": got " + std::to_string(arrays.size()) + " arrays, expected " +
                std::to_string(expected.size()));
  for (std::size_t k = 0; k < arrays.size(); k++)
    if (static_cast<int>(arrays[k].size()) != expected[k].components)
      throw Error(name + ": " + std::string(expected[k].name) + " has " + std::to_string(arrays[k].size()) +
                  " components, expected " + std::to_string(expected[k].components));
  if (row.uses_frame && (frame < 0 || frame >= robot.model.nf))
    throw Error(name + ": frame is " + std::to_string(frame) + ", expected 0 to " + std::to_string(robot.model.nf - 1));
  // parameters stand between the inputs and the uniforms
  std::vector<std::string> names;
  std::vector<std::vector<Expr>> values, rest;
  for (std::size_t k = 0; k < arrays.size(); k++) {
    const bool parameter = k < row.in.size() && is_parameter(row.in[k].name);
    if (parameter) names.emplace_back(row.in[k].name), values.push_back(arrays[k]);
    else rest.push_back(arrays[k]);
  }
  const Model<Expr> model = Parameters(robot, names).apply(robot.model, values);
  nb::list outputs;
  for (const auto& y : record_op(row.index, model, frame, 0, rest)) outputs.append(symbols(y, trace));
  return outputs;
}

// Counts the operations of one evaluation, in the program from which kernels are made, in the order for small robots.
nb::dict count_operations(const Robot& robot, const OpRow& row, int frame) {
  if (row.uses_frame && (frame < 0 || frame >= robot.model.nf))
    throw Error(std::string(row.name) + ": frame is " + std::to_string(frame) + ", expected 0 to " +
                std::to_string(robot.model.nf - 1));
  const Program p = trace_best(row.index, robot.model, frame);
  const std::vector<int> order = latency_order(p);
  const Counts c = count(p, order);
  nb::dict d;
  d["mul"] = c.mul, d["add"] = c.add, d["fused"] = c.fused, d["div"] = c.rcp, d["sqrt"] = c.sqrt;
  d["sincos"] = c.sincos, d["other"] = c.other, d["loads"] = c.loads, d["stores"] = c.stores;
  d["max_live"] = c.max_live;
  for (const char* isa : {"avx512", "avx2"}) {
    d[isa] = nb::none();
    if (!can_assemble(isa)) continue;
    try {
      const AssembledKernel k = assemble(p, order, isa, Precision::float32);
      d[isa] = nb::make_tuple(k.instructions, k.spills, k.bytes);
    } catch (const Error&) {  // too large for the stack of a thread
    }
  }
  return d;
}

std::map<std::string, int> sizes_of(const std::vector<Program::Array>& arrays) {
  std::map<std::string, int> sizes;
  for (const Program::Array& a : arrays) sizes[a.name] = a.size;
  return sizes;
}

}  // namespace

const Program& program_of(nb::handle trace) { return nb::cast<Trace&>(trace).program; }

void bind_trace(nb::module_& module) {
  nb::class_<Symbol> symbol(module, "Symbol", "A number of a traced function.");
  symbol.def("__bool__", [](const Symbol&) -> bool { throw nb::type_error(no_truth); })
      .def("__float__", [](const Symbol&) -> double { throw nb::type_error(no_truth); })
      .def("__repr__", [](const Symbol& s) { return s.condition ? "<traced condition>" : "<traced number>"; });
  // functions that numpy calls on the elements of a plain array of objects, for dot products and similar
#define FEATHERSTORM_BINARY(dunder, name)                                                                         \
  symbol.def("__" dunder "__", [](nb::handle a, nb::handle b) { return binary(name, a, b); }, nb::is_operator()); \
  symbol.def("__r" dunder "__", [](nb::handle a, nb::handle b) { return binary(name, b, a); }, nb::is_operator());
  FEATHERSTORM_BINARY("add", "add")
  FEATHERSTORM_BINARY("sub", "subtract")
  FEATHERSTORM_BINARY("mul", "multiply")
  FEATHERSTORM_BINARY("truediv", "divide")
#undef FEATHERSTORM_BINARY
  symbol.def("__neg__", [](nb::handle a) { return unary("negative", a); });
  symbol.def("__lt__", [](nb::handle a, nb::handle b) { return binary("less", a, b); });
  symbol.def("__le__", [](nb::handle a, nb::handle b) { return binary("less_equal", a, b); });
  symbol.def("__gt__", [](nb::handle a, nb::handle b) { return binary("less", b, a); });
  symbol.def("__ge__", [](nb::handle a, nb::handle b) { return binary("less_equal", b, a); });

  nb::class_<Trace>(module, "Trace", "Records a computation on the numbers of one instance.")
      .def(nb::init<>())
      .def(
          "input",
          [](const std::shared_ptr<Trace>& t, const std::string& name, int size, bool uniform) {
            check_open(*t);
            return symbols(t->program.input(name, size, uniform), t);
          },
          nb::arg("name"), nb::arg("size"), nb::arg("uniform") = false)
      .def(
          "more",
          [](const std::shared_ptr<Trace>& t, const std::string& name, int count) {
            check_open(*t);
            Program& p = t->program;
            const auto at =
                std::find_if(p.inputs.begin(), p.inputs.end(), [&](const Program::Array& a) { return a.name == name; });
            if (at == p.inputs.end()) throw Error("the trace has no input '" + name + "' to be made longer");
            std::vector<Expr> values;
            for (int k = 0; k < count; k++)
              values.push_back(Expr(p.graph.input(static_cast<int>(at - p.inputs.begin()), at->size++)));
            return symbols(values, t);
          },
          nb::arg("name"), nb::arg("count"), "Adds components to an input.")
      .def(
          "output",
          [](const std::shared_ptr<Trace>& t, const std::string& name, nb::sequence values) {
            check_open(*t);
            Tracing scope(t->program.graph);
            t->program.output(name, expressions(values, t));
          },
          nb::arg("name"), nb::arg("values"))
      .def("op", run_op, nb::arg("robot"), nb::arg("row"), nb::arg("frame"), nb::arg("arrays"))
      .def(
          "close", [](Trace& t) { t.open = false; }, "Ends the recording; its symbols raise errors from then on.")
      .def_prop_ro(
          "inputs", [](const Trace& t) { return sizes_of(t.program.inputs); },
          "Number of components of each input, by name.")
      .def_prop_ro("outputs", [](const Trace& t) { return sizes_of(t.program.outputs); })
      .def(
          "with_inputs",
          [](const Trace& t, const std::string& prefix) {
            auto more = std::make_shared<Trace>(Trace{t.program, false});
            Program& p = more->program;
            Tracing scope(p.graph);
            for (std::size_t k = 0; k < t.program.inputs.size(); k++) {
              std::vector<Expr> values;
              for (int c = 0; c < p.inputs[k].size; c++) values.push_back(Expr(p.graph.input(static_cast<int>(k), c)));
              if (!p.inputs[k].uniform) p.output(prefix + p.inputs[k].name, values);
            }
            return more;
          },
          nb::arg("prefix"), "A copy whose inputs are also outputs, under other names.")
      .def("ray", traced_ray, nb::arg("type"), nb::arg("size"), nb::arg("p"), nb::arg("v"),
           "The least x >= 0 at which a ray p + x v, in a geom's axes, meets a geom (mjtGeom) of a size (3); 1e15 or "
           "more without a hit.")
      .def(
          "vjp",
          [](const Trace& t, const std::vector<std::string>& of, const std::vector<std::string>& by) {
            return std::make_shared<Trace>(Trace{vjp(t.program, of, by), false});
          },
          nb::arg("of"), nb::arg("by"),
          "A closed trace of x_bar = (dy/dx)^T y_bar, from the inputs and NAME_bar of the outputs `of` to NAME_bar of "
          "the inputs `by`.");
  module.def(
      "traced", [](const std::string& name, nb::args x) { return traced(name, x); },
      "A function of traced values and numbers, by its numpy name.");
  module.def("count_operations", count_operations, nb::arg("robot"), nb::arg("row"), nb::arg("frame") = 0,
             "Operation counts of one evaluation, traced for a robot: mul, add, fused (the part of add into which a "
             "product is folded as a multiply-add), div, sqrt, sincos, other, loads, stores, max_live. avx512, avx2: "
             "(instructions, spills, bytes) of the kernel assembled for float32, or None.");
}

}  // namespace featherstorm
