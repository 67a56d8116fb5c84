#include "host/simulation/rollout.h"

#include <algorithm>
#include <set>

#include "host/trace/parameters.h"
#include "host/trace/trace_op.h"

namespace featherstorm {
namespace {

int frame_of(const Robot& robot, const std::string& name) {
  const auto at = std::find(robot.frame_names.begin(), robot.frame_names.end(), name);
  if (at == robot.frame_names.end()) throw Error(robot.name + " has no frame '" + name + "'");
  return static_cast<int>(at - robot.frame_names.begin());
}

// A program during recording, with the inputs that all functions of a rollout have.
struct Recording {
  Program program;
  TracedState x;
  Traced u, p;
  Expr t;

  Recording(const Robot& robot, int controls, int parameters, const char* time)
      : x(robot, program.input("q", robot.model.nq), program.input("v", robot.model.nv)),
        u(program.input("u", controls)),
        p(program.input("p", parameters, true)),
        t(program.input(time, 1, true)[0]) {}

  // Record f(), and return its result.
  template <class F> auto record(const F& f) {
    Tracing scope(program.graph);
    return f();
  }
  void output(const char* name, const Traced& values) {
    Tracing scope(program.graph);
    program.output(name, values);
  }
};

void require_count(const char* what, std::size_t came, int expected) {
  if (static_cast<int>(came) != expected)
    throw Error(std::string("Rollout: ") + what + " has " + std::to_string(came) + " numbers, expected " +
                std::to_string(expected));
}

bool recorded(const Program& p) { return !p.outputs.empty(); }

// The program with numbers of each instance in place of uniform ones.
Program per_instance(Program p, const std::set<std::string>& names) {
  for (Program::Array& a : p.inputs)
    if (names.contains(a.name)) a.uniform = false;
  return p;
}

Expr half_square(const Traced& r) {
  Expr sum = 0;
  for (const Expr& x : r) sum = sum + x * x;
  return 0.5 * sum;
}

// The lists of a call, in memory of the thread that its last call has left: a warm call allocates nothing.
struct CallLists {
  std::vector<SequenceMemory> in, out;
  std::vector<UniformValues> uniforms;
};
thread_local CallLists call_lists;
// Set element `count` of a list.
void put(std::vector<SequenceMemory>& list, std::size_t& count, const std::string& name, const ArrayRef& array,
         bool every_step = false, long step_stride = 0) {
  if (list.size() == count) list.emplace_back();
  SequenceMemory& m = list[count++];
  m.name = name, m.array = array, m.every_step = every_step, m.step_stride = step_stride;
}

}  // namespace

RolloutStages rollout_stages(const Robot& robot, const RolloutOptions& o, bool world) {
  const int nv = world ? robot.model.world.nu : robot.model.nv;  // components of a drive
  if (o.parameters < 0) throw Error("Rollout: parameters is " + std::to_string(o.parameters) + ", expected 0 or more");
  RolloutStages s{o.controls < 0 ? nv : o.controls, o.parameters, true};
  if (!o.control && s.controls != nv)
    throw Error("Rollout: controls is " + std::to_string(s.controls) + ", expected " + std::to_string(nv) +
                (world ? " (nu), or a function `control`" : " (nv), or a function `control`"));
  const auto recording = [&](const char* time) { return Recording(robot, s.controls, s.parameters, time); };
  if (o.control) {
    Recording r = recording("t");
    const RolloutOptions::Drive d = r.record([&] { return o.control(r.x, r.u, r.t, r.p); });
    require_count(world ? "ctrl of control" : "tau of control", d.tau.size(), nv);
    r.output(world ? "ctrl" : "tau", d.tau);
    if (world && !d.target.empty()) throw Error("Rollout: control has targets, but a world has actuators of its own");
    if (!d.target.empty()) require_count("target of control", d.target.size(), nv), r.output("target", d.target);
    s.control = std::move(r.program);
  } else if (world && nv > 0) {
    s.control.output("ctrl", s.control.input("u", nv));
  }
  const auto add = [&](Program& to, const auto& f) {
    Recording r = recording("t_next");
    const Expr before = r.program.input("total", 1)[0];
    const Expr total = r.record([&] { return before + f(r); });
    r.output("total_next", {total});
    to = std::move(r.program);
  };
  const auto note = [&](Program& to, const char* function, const char* name, const auto& f) {
    Recording r = recording("t_next");
    const Traced values = r.record([&] { return f(r); });
    if (values.empty()) throw Error(std::string("Rollout: ") + function + " has no numbers, expected some");
    r.output(name, values);
    to = std::move(r.program);
  };
  const auto residual = [&](Recording& r) { return o.residual(r.x, r.u, r.t, r.p); };
  const auto last_residual = [&](Recording& r) { return o.terminal_residual(r.x, r.t, r.p); };
  if (o.cost || o.residual)
    add(s.cost, [&](Recording& r) {
      const Expr cost = o.cost ? o.cost(r.x, r.u, r.t, r.p) : Expr(0.0);
      return o.residual ? cost + half_square(residual(r)) : cost;
    });
  if (o.terminal || o.terminal_residual)
    add(s.terminal, [&](Recording& r) {
      const Expr cost = o.terminal ? o.terminal(r.x, r.t, r.p) : Expr(0.0);
      return o.terminal_residual ? cost + half_square(last_residual(r)) : cost;
    });
  if (o.observe) note(s.observe, "observe", "observation", [&](Recording& r) { return o.observe(r.x, r.u, r.t, r.p); });
  if (o.residual && !o.cost) note(s.residual, "residual", "residual", residual);
  if (o.terminal_residual && !o.terminal)
    note(s.terminal_residual, "terminal_residual", "terminal_residual", last_residual);
  return s;
}

std::vector<Traced> TracedState::run(const std::string& op, const std::vector<Traced>& in,
                                     const std::string& frame) const {
  const int index = op_index(op);
  const Model<Expr> model = Parameters(robot_, {}).apply(robot_.model, {});
  return record_op(index, model, frame.empty() ? 0 : frame_of(robot_, frame), 0, in);
}

Traced TracedState::position(const std::string& frame) const {
  const int k = 12 * frame_of(robot_, frame);
  const Traced poses = run("forward_kinematics", {q})[0];
  return {poses.begin() + k, poses.begin() + k + 3};
}

Traced TracedState::rotation(const std::string& frame) const {
  const int k = 12 * frame_of(robot_, frame) + 3;
  const Traced poses = run("forward_kinematics", {q})[0];
  return {poses.begin() + k, poses.begin() + k + 9};
}

Traced TracedState::velocity(const std::string& frame) const { return run("frame_velocity", {q, v}, frame)[0]; }

Sequence rollout_sequence(Evaluator& e, const Stepping& stepping, Precision precision, const RolloutStages& stages,
                          const Program& feedback, bool one_step) {
  const int nv = e.robot().model.nv;
  const bool world = stepping.op == "world";
  const std::set<std::string> changed = one_step ? std::set<std::string>{"t", "t_next", "p"} : std::set<std::string>{};
  const auto stage = [&](const Program& p) { return stage_of(e, precision, per_instance(p, changed)); };
  Sequence s(precision, e.threads(), e.isa());
  const auto declare = [&](const char* name, long n, bool uniform) { uniform ? s.uniform(name, n) : s.array(name, n); };
  if (!world) declare_state(s, e, stepping), s.array("tau", nv), s.array("target", nv);
  s.array("u", stages.controls);
  s.array("total", 1), s.array("total_next", 1);
  declare("p", stages.parameters, stages.shared_parameters && !one_step);
  declare("t", 1, !one_step), declare("t_next", 1, !one_step);
  if (recorded(stages.observe) && !one_step) s.array("observation", stages.observe.outputs[0].size);
  for (const Program::Array& a : feedback.inputs)
    if (a.name != "q" && a.name != "v" && a.name != "act") declare(a.name.c_str(), a.size, a.uniform);

  const auto control = [&](int pass) {
    if (pass > 0) return;
    if (recorded(feedback)) s.stage(stage(feedback));
    if (recorded(stages.control)) s.stage(stage(stages.control));
  };
  if (world) {
    if (!recorded(stages.control) && e.robot().model.world.nu > 0)
      throw Error("Rollout: control is not given, expected a program that computes ctrl from u");
    SolverOptions solver = stepping.solver;
    solver.forces = false;
    append_world_step(s, e, precision, solver, control, stepping.substeps, per_instance(stages.at_solve, changed));
  } else {
    append_start(s, e, stepping, precision);
    control(0);
    const bool direct = !recorded(stages.control);
    append_step(s, e, stepping, precision, direct && !stepping.drives ? "u" : "tau",
                direct && stepping.drives ? "u" : "target");
  }
  if (one_step) return s;
  for (bool last : {false, true}) {
    const Program& p = last ? stages.terminal : stages.cost;
    if (!recorded(p)) continue;
    Stage added = stage(p);
    added.swaps = {{"total", "total_next"}}, added.last = last;
    s.stage(added);
  }
  if (recorded(stages.observe)) s.stage(stage(stages.observe));
  std::vector<std::string> finite = {"total", "q", "v"};
  if (world) finite.push_back("act");
  s.finite("total", finite);
  return s;
}

Rollout::Rollout(Evaluator& evaluator, const RolloutOptions& options)
    : evaluator_(evaluator),
      stepping_(stepping_of(evaluator, "Rollout", options.stepping)),
      dt_(stepping_.pass_time * stepping_.substeps),
      precision_(options.precision),
      sequence_(options.precision, 1) {
  stepping_.solver = solver_options(evaluator.robot().model, options.precision, stepping_.solver.rigid);
  const RolloutStages stages = rollout_stages(evaluator.robot(), options, stepping_.op == "world");
  if (recorded(stages.observe)) observed_ = stages.observe.outputs[0].size;
  controls_ = stages.controls, parameters_ = stages.parameters;
  sequence_ = rollout_sequence(evaluator, stepping_, options.precision, stages);
}

void Rollout::run(long steps, long instances, const RolloutArrays& a, double t0, void* stream) const {
  const auto spread = [&](ArrayRef r) {
    if (r.instances == 1 && instances != 1) r.instances = instances, r.instance_stride = 0, r.padded = false;
    return r;
  };
  if (!a.q.data || !a.v.data) throw Error("Rollout: q or v is not given");
  if (!a.u.array.data && !a.made && instances > 0) throw Error("Rollout: neither u nor controls are given");
  std::vector<SequenceMemory>&in = call_lists.in, &out = call_lists.out;
  std::vector<UniformValues>& uniforms = call_lists.uniforms;
  std::size_t ins = 0, outs = 0;
  put(in, ins, "q", spread(a.q)), put(in, ins, "v", spread(a.v));
  if (a.act.data) put(in, ins, "act", spread(a.act));
  if (a.warm.data) {
    if (stepping_.op != "world" && stepping_.op != "contact_step")
      throw Error("Rollout: warm is for contacts, and " + evaluator_.robot().name + " has none");
    put(in, ins, stepping_.op == "world" ? "qacc" : "impulse", spread(a.warm));
  }
  for (const std::string& name : evaluator_.parameters()) {
    const auto given = a.parameters.find(name);
    if (given == a.parameters.end()) throw Error("Rollout: the parameter " + name + " of the robot is not given");
    put(in, ins, name, spread(given->second));
  }
  if (!a.made) put(in, ins, "u", spread(a.u.array), true, a.u.step_stride);
  const auto add = [&](const char* name, const ArrayRef& array) {
    if (array.data) put(out, outs, name, array);
  };
  const auto add_each = [&](const char* name, const SequenceMemory& m) {
    if (m.array.data) put(out, outs, name, m.array, true, m.step_stride);
  };
  add("total", a.costs), add("q", a.q_final), add("v", a.v_final), add("act", a.act_final);
  add_each("q", a.q_states), add_each("v", a.v_states), add_each("u", a.used), add_each("observation", a.observations);
  in.resize(ins), out.resize(outs);
  const std::size_t own = stepping_.uniforms.size();
  uniforms.resize(own + 3);
  std::copy(stepping_.uniforms.begin(), stepping_.uniforms.end(), uniforms.begin());
  UniformValues &p = uniforms[own], &t = uniforms[own + 1], &t_next = uniforms[own + 2];
  p.name = "p", p.values = a.p, t.name = "t", t.values.clear(), t_next.name = "t_next", t_next.values.clear();
  for (long k = 0; k < std::max(steps, 1L); k++) {
    t.values.push_back(t0 + dt_ * static_cast<double>(k));
    t_next.values.push_back(t0 + dt_ * static_cast<double>(k + 1));
  }
  sequence_.run(steps, instances, in, uniforms, out, a.made, stream);
}

}  // namespace featherstorm
