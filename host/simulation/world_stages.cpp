#include "host/simulation/world_stages.h"

#include <algorithm>

#include "host/memory/cpu_library.h"
#include "host/simulation/world_data.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

struct TextArrays { std::vector<std::string> in, out; };

TextArrays arrays_of(WorldKernel text, int stage) {
  switch (text) {
    case WorldKernel::equations:
      return {{"q", "v", "act", "ctrl", "qfrc_applied", "xfrc_applied", "model_numbers"},
              {"mass", "b", "jacobian", "row_D", "row_aref", "row_friction", "act_dot", "actuator_length",
               "actuator_velocity", "damping", "weights", "turning", "factor", "qacc_smooth", "placement", "twist",
               "axis", "contact_zones"}};
    case WorldKernel::advance:
      return {{"q", "v", "act", "act_dot", "actuator_length", "actuator_velocity", "damping", "mass", "qacc", "turning",
               "qacc_smooth", "touched", "model_numbers"},
              {"q_next", "v_next", "act_next", "qacc_next", "qfrc_constraint"}};
    case WorldKernel::stage: break;
  }
  TextArrays a{{"q", "v", "act", "u_i", "v_i", "act_dot", "qacc", "sum_u", "sum_a", "sum_rate", "actuator_length",
                "actuator_velocity", "model_numbers"},
               {"q_next", "v_next", "act_next"}};
  if (stage < 3)
    a.out = {"q_i_next", "v_i_next", "act_i_next", "u_i_next", "sum_u_next", "sum_a_next", "sum_rate_next"};
  return a;
}

// Remove the parts of the model that the stages do not read. They read geoms only for adhesion.
Model<Expr> without_geoms(Model<Expr> m) {
  const auto& actuators = m.world.actuator;
  if (std::none_of(actuators.begin(), actuators.end(), [](const Actuator<Expr>& a) { return !a.pair.empty(); }))
    m.world.contacts = {};
  m.world.sensor.clear(), m.frame.clear(), m.nf = 0;
  return m;
}

// Remove adhesion between shapes without a closed form, which cannot be traced. No row depends on it.
Model<Expr> without_loops(Model<Expr> m) {
  const GeomContacts<Expr>& c = m.world.contacts;
  for (Actuator<Expr>& a : m.world.actuator)
    std::erase_if(a.pair, [&](int p) { return !has_closed_form(c, c.pair[static_cast<std::size_t>(p)]); });
  return m;
}

// Find the rows of constraints, the coordinates that they move, and the slopes that the integrator includes.
void find_form(const Model<double>& model, const Parameters& parameters, bool rigid, WorldPrograms& form) {
  Program p;
  const std::vector<Expr> q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", model.world.na),
                          ctrl = p.input("ctrl", model.world.nu);
  const TracedModel traced(p, model, parameters);
  const Model<Expr> m = without_loops(traced.model());
  const World<Expr>& w = m.world;
  Smooth<Expr> s(m, w);
  Equations<Expr> e(m, w);
  std::vector<Expr> tau(v.size()), slopes(v.size());
  const Applied applied{ctrl.data(), Zeros<Expr>{}, Zeros<Expr>{}};
  smooth_forces(m, w, q.data(), v.data(), act.data(), applied, s, tau.data());
  constraint_rows(m, w, s.x, s.X, q.data(), v.data(), s.ten_length, s.ten_J, e.rows());
  form.rows = constraint_pattern(w, m.nv, e.J.data());
  form.pairs = PairColumns(model, model.world.contacts);
  form.slopes = slopes_of(m, rigid), form.damps = form.slopes > 0;
  if (w.integrator == Integrator::Euler) {
    damper_slopes(m, w, v.data(), slopes.data());
    form.damps = false;
    for (const Expr& d : slopes) form.damps |= w.implicit_damping && !rigid && lane(d, 0) != 0;
  }
  if (rigid) return;
  if (w.is_discrete()) check_branches(m, act, ctrl, s);
  form.alone = alone_bodies(m, w), form.weights = weights_of(m, w);
}

// Store the model as data. With parameters, also trace the program that computes the numbers that depend on them.
void take_model(const Model<double>& model, const Parameters& parameters, const std::vector<int>& zones,
                WorldData& data, WorldStages& out) {
  Program& p = out.numbers.emplace();
  const TracedModel traced(p, model, parameters);
  std::vector<Expr> numbers, touch;
  ModelNumber::expressions = &numbers;
  data.model = cast<ModelNumber>(without_geoms(traced.model()));
  for (const Frame<Expr>& frame : zone_frames(traced.model().world, zones))
    data.zone.push_back(cast<ModelNumber>(frame));
  ModelNumber::expressions = nullptr;
  data.varies = !numbers.empty();
  data.first_weight = static_cast<int>(numbers.size()), data.weighed = rows_of_equalities(model.world.constraints);
  std::vector<Expr> weight(static_cast<std::size_t>(data.weighed), Expr(1.0));
  traced.weigh_equalities(weight.data());
  numbers.insert(numbers.end(), weight.begin(), weight.end());
  out.form.touch = touch_numbers(traced.model().world, touch);
  p.output("model_numbers", numbers), p.output("touch", touch);
  out.model_numbers = static_cast<long>(numbers.size());
}

Stage stage_of(const WorldData& data, WorldKernel text, const std::string& isa, Precision precision,
               const std::string& why) {
  const SolverTable* table = cpu_world(isa, text, sizeof(WorldData));
  if (!table)
    throw Error("the library of CPU kernels libfeatherstorm_cpu_" + isa +
                "_world.so was not found; `./featherstorm setup` builds it");
  const bool single = precision == Precision::float32;
  const auto kept = std::make_shared<WorldData>(data);
  BoundKernel kernel{single ? table->in_float : table->in_double, kept.get(),
                     single ? table->float_width : table->double_width, kept};
  TextArrays arrays = arrays_of(text, data.stage);
  Stage s{[kernel] { return kernel; }, std::move(arrays.in), std::move(arrays.out)};
  s.on_device = [why](int) -> std::shared_ptr<const DeviceStage> {
    throw Error("the robot has no step on a CUDA device because its equations are not compiled into a kernel: " + why +
                "; step it on the CPU");
  };
  return s;
}

}  // namespace

ModelNumber::ModelNumber(Expr x) {
  if (const double constant = lane(x, 0); constant == constant) {
    value = constant;
    return;
  }
  place = static_cast<int>(expressions->size());
  expressions->push_back(x);
}

WorldStages world_stages(const Model<double>& model, const Parameters& parameters, const RigidLaw<double>* rigid,
                         const std::vector<int>& zones, Precision precision, const std::string& isa,
                         const std::string& why) {
  WorldStages out;
  find_form(model, parameters, rigid != nullptr, out.form);
  WorldData data;
  take_model(model, parameters, zones, data, out);
  if (parameters.arrays().empty()) out.numbers.reset(), out.model_numbers = 0, data.weighed = 0;
  if (rigid) data.rigid = *rigid;
  data.rows = out.form.rows, data.alone = out.form.alone, data.damps = out.form.damps;
  data.touches = !model.world.contacts.pair.empty();
  out.equations = stage_of(data, WorldKernel::equations, isa, precision, why);
  out.advance = stage_of(data, WorldKernel::advance, isa, precision, why);
  for (int i = 0; i < 4 && model.world.integrator == Integrator::RungeKutta; i++) {
    data.stage = i;
    out.stages.push_back(stage_of(data, WorldKernel::stage, isa, precision, why));
  }
  return out;
}

}  // namespace featherstorm
