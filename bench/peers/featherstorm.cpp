// featherstorm for peers.py: MODEL is a built-in robot; OP is OPERATION/float|double/run-time|assembled|compiled. One thread,
// the public C++ call on arrays of class Buffer.
//
// Besides what serve.h asks for, `describe` in place of STATES prints what peers.py needs to know of the robot.
#include "bench/peers/serve.h"

#include <memory>

#include "host/engine/evaluator.h"
#include "host/load/load.h"

using namespace featherstorm;

namespace {

void describe(const Robot& robot) {
  const Model<double>& m = robot.model;
  const Evaluator evaluator(robot);
  auto list = [](const char* name, const auto& values) {
    std::cout << name;
    for (const auto& v : values) std::cout << ' ' << v;
    std::cout << '\n';
  };
  std::cout.precision(17);
  list("build", std::vector<std::string>{FEATHERSTORM_BUILD});
  list("isa", std::vector<std::string>{evaluator.isa()});
  list("joints", robot.joint_names);
  std::vector<int> q, v;
  for (int i = 1; i <= m.nb; i++) q.push_back(m.body[i].q), v.push_back(m.body[i].v);
  list("q", q), list("v", v);
  list("armature", m.armature);
  std::vector<std::string> ops;
  for (const OpRow& row : evaluator.ops())
    if (row.refused.empty()) ops.emplace_back(row.name);
  list("ops", ops);
}

// One operation with its arrays, and the evaluator whose path it takes.
struct Arrays {
  std::vector<Buffer> buffers;
  std::vector<ArrayRef> in, out, answer;
  RunOptions options;
};

template <class Real> void fill(const Buffer& b, const std::vector<double>& x, long count, long components) {
  for (long k = 0; k < count; k++)
    for (long c = 0; c < components; c++) b.component<Real>(c)[k] = static_cast<Real>(x[k * components + c]);
}

}  // namespace

int main(int, char** argv) {
  const Robot robot = load(argv[1]);
  if (std::string(argv[2]) == "describe") return describe(robot), 0;
  const peers::States s = peers::read_states(argv[2]);
  const Model<double>& m = robot.model;
  EvaluatorOptions options;
  options.threads = 1;
  options.notice = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  Evaluator assembled(robot, options);
  options.assemble = false;
  Evaluator run_time(robot, options), compiled(robot, options);
  std::map<std::string, std::unique_ptr<peers::Op>> ops;

  auto make = [&](const std::string& name) -> std::unique_ptr<peers::Op> {
    const std::size_t a = name.find('/'), b = name.find('/', a + 1);
    const std::string op = name.substr(0, a), path = name.substr(b + 1);
    const Precision precision = name.substr(a + 1, b - a - 1) == "float" ? Precision::float32 : Precision::float64;
    Evaluator& evaluator = path == "run-time" ? run_time : path == "assembled" ? assembled : compiled;
    const bool vjp = op.ends_with("_vjp"), all = vjp || op.ends_with("_derivatives");  // all outputs are the answer
    if (vjp && path == "run-time") return nullptr;
    if (path != "run-time" && !evaluator.specialise(op, precision)) return nullptr;
    const OpRow& row = evaluator.op(op);
    auto arrays = std::make_shared<Arrays>();
    for (const auto& argument : row.in) {
      // cotangents are what the accelerations and the forces of the states are; bodies have no external forces
      const std::vector<double> none(s.count * argument.components);
      const std::vector<double>& x = argument.name == "q"                                   ? s.q
                                     : argument.name == "v"                                 ? s.v
                                     : argument.name == "a" || argument.name == "a_bar"     ? s.a
                                     : argument.name == "tau" || argument.name == "tau_bar" ? s.tau
                                                                                            : none;
      arrays->buffers.emplace_back(precision, s.count, argument.components);
      if (precision == Precision::float32) fill<float>(arrays->buffers.back(), x, s.count, argument.components);
      else fill<double>(arrays->buffers.back(), x, s.count, argument.components);
      arrays->in.push_back(arrays->buffers.back().ref());
    }
    for (const auto& argument : row.out) {
      arrays->buffers.emplace_back(precision, s.count, argument.components);
      arrays->out.push_back(arrays->buffers.back().ref());
    }
    // a step of MuJoCo's default length, no drives, no stops, no dry friction
    for (const auto& u : row.uniforms)
      for (int k = 0; k < u.components; k++)
        arrays->options.uniforms.push_back(u.name == "dt" ? 0.002 : u.name == "friction_velocity" ? 1e12 : 0);
    auto result = std::make_unique<peers::Op>();
    const bool matrix = op == "crba";
    if (!all) arrays->answer = {arrays->out.back()};
    else arrays->answer = arrays->out;
    for (const ArrayRef& out : arrays->answer) result->size += out.components;
    if (matrix) result->size = m.nv * m.nv;
    result->pass = [arrays, op, &evaluator] { evaluator.run(op, arrays->in, arrays->out, arrays->options); };
    // a packed inertia matrix in full
    result->answer = [arrays, matrix, &m](long k, double* x) {
      const auto at = [k](const ArrayRef& out, long c) {
        const long i = k * out.instance_stride + c * out.component_stride;
        return out.precision == Precision::float32 ? static_cast<const float*>(out.data)[i]
                                                   : static_cast<const double*>(out.data)[i];
      };
      if (!matrix) {
        for (const ArrayRef& out : arrays->answer)
          for (long c = 0; c < out.components; c++) *x++ = at(out, c);
        return;
      }
      for (long c = 0; c < m.nv * m.nv; c++) x[c] = 0;
      for (int i = 0; i < m.nv; i++)
        for (int c = m.row_start[i]; c < m.row_start[i + 1]; c++)
          x[i * m.nv + m.column[c]] = x[m.column[c] * m.nv + i] = at(arrays->out.back(), c);
    };
    return result;
  };
  peers::serve(s.count, [&](const std::string& name) -> const peers::Op* {
    if (!ops.count(name)) ops[name] = make(name);
    return ops[name].get();
  });
}
