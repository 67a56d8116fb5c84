#include "host/gradients/world_stage.h"

namespace featherstorm::stage {
namespace {

// Pulls cotangents of the integrator's outputs back to its inputs.
struct PulledWay {
  Arrays of_inputs;
  Numbers a_bar, mu;
  // given: cotangents under names with "_bar"
  PulledWay(const Texts& t, const Matrices& matrices, const Places& x, const Arrays& given) {
    of_inputs = by_name(t.way.inputs, pull_back(t.way, in_order(t.way.inputs, x.way),
                                                in_order(t.way.outputs, given, cotangent_suffix)));
    a_bar = sum(found(given, "qacc_next_bar"), found(of_inputs, "qacc"));
    Numbers by_next = found(of_inputs, "qacc_next");
    if (t.damps) mu = matrices.by_damped(by_next, true), by_next = matrices.times_mass(mu);
    a_bar = sum(a_bar, by_next);
    if (t.first && t.is_stage) of_inputs["v"] = sum(of_inputs.at("v"), of_inputs.at("v_i"));
  }
};

// Declare the inputs that the cotangent programs of all stages have.
Arrays given_bars(const Texts& t, Program& p) {
  Arrays given;
  for (const Program::Array& a : t.way.outputs)
    given[a.name + cotangent_suffix] = p.input(a.name + cotangent_suffix, a.size);
  if (t.last) given["qacc_next_bar"] = p.input("qacc_next_bar", t.model.nv);
  return given;
}
Arrays summed_bars(const Texts& t, Program& p) {
  Arrays summed;
  const std::map<std::string, int> size = sizes_of(t);
  for (const std::string& name : varied(t.parameters))
    if (!t.last) summed[name] = p.input(name + cotangent_suffix, size.at(name));
    else if (t.is_stage && is_state(name))
      summed[name + "_left"] = p.input(name + "_left" + cotangent_suffix, size.at(name));
  return summed;
}

// Sum of the cotangents through the integrator and through the residual.
void store_bars(const Texts& t, Program& p, const Places& x, const Arrays& summed, const Arrays& of_way,
                const Arrays& of_g) {
  const std::map<std::string, int> size = sizes_of(t);
  for (const std::string& name : varied(t.parameters)) {
    // the equations of later stages are not evaluated at the step's own state
    Numbers total = sum(found(summed, name), found(of_way, name));
    if (t.first || !is_state(name)) total = sum(total, found(of_g, name));
    total.resize(static_cast<std::size_t>(size.at(name)), Expr(0.0));
    // the sums over all stages are complete at the first stage
    if (t.first && name == "q") total = along_spheres(t.model, x.at.at("q"), total);
    p.output(name + cotangent_suffix + (t.last ? "" : "_next"), total);
  }
  if (t.first) return;
  for (const std::string& name : between) {
    Numbers total = found(of_way, name);
    const std::string state = name.substr(0, name.size() - 2);
    if (is_state(state)) total = sum(sum(total, found(of_g, state)), found(summed, state + "_left"));
    p.output(name + cotangent_suffix, total);
  }
}

Arrays cotangents_of_residual(const PulledWay& way, const Numbers& lambda) {
  Arrays of_g = {{"g", negative(lambda)}};
  if (!way.mu.empty()) of_g["g_h"] = way.mu;
  for (const std::string& name : lengths)
    if (way.of_inputs.contains(name)) of_g[name] = way.of_inputs.at(name);
  return of_g;
}

}  // namespace

Program trace_vjp(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = given_bars(t, p), summed = summed_bars(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = model_at(t, x);
  const Matrices matrices = solved(t, m, x);
  const PulledWay way(t, matrices, x, given);
  const Arrays of_g = cotangents_of_residual(way, matrices.by_curvature(way.a_bar));
  store_bars(t, p, x, summed, way.of_inputs,
             by_name(t.residual.inputs,
                     pull_back(t.residual, in_order(t.residual.inputs, x.at), in_order(t.residual.outputs, of_g))));
  return p;
}

Program cotangents_before(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = given_bars(t, p), e = handed_on(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = model_at(t, x);
  const Matrices matrices(t, m, e);
  set_way(t, matrices, x);
  const PulledWay way(t, matrices, x, given);
  p.output("qacc_bar", way.a_bar);
  p.output("mu", way.mu), p.output("qacc_damped", t.damps ? x.at.at("qacc_next") : Numbers{});
  for (const Program::Array& a : t.way.inputs)
    if (a.name != "qacc" && a.name != "qacc_next") p.output("way_" + a.name, way.of_inputs.at(a.name));
  return p;
}

Program cotangents_after(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, false);
  const int nv = t.model.nv, nb = t.model.nb;
  const Arrays summed = summed_bars(t, p);
  Numbers &a_h = x.at["qacc_next"], &lambda = x.at["lambda"];
  a_h = p.input("qacc_damped", t.damps ? nv : 0), lambda = p.input("lambda", nv);
  if (!t.damps) a_h = x.at.at("qacc");
  const Numbers mu = p.input("mu", t.damps ? nv : 0);
  Arrays of_way;
  for (const Program::Array& a : t.way.inputs)
    if (a.name != "qacc" && a.name != "qacc_next") of_way[a.name] = p.input("way_" + a.name, a.size);
  const int moving = t.model.world.contacts.pair.empty() ? 0 : nb + 1;
  const Numbers pose = p.input("pose_bar", 6 * moving);
  Arrays of_g;
  for (const char* name : {"lambda_motion", "qacc_motion", "twist"})
    of_g[name] = p.input(std::string(name) + cotangent_suffix, 6 * moving);
  of_g["touch"] = p.input("touch_bar", t.step.touch.size);
  Tracing scope(p.graph);
  of_g["g"] = negative(lambda);
  if (t.damps) of_g["g_h"] = mu;
  for (const std::string& name : lengths) of_g[name] = found(of_way, name);
  for (const std::string& name : lengths)
    if (of_g[name].empty()) of_g.erase(name);
  // a rotation w about the world's origin and a displacement v change R by w x R and r by v + w x r
  const Arrays now = by_name(t.residual.outputs, replay(t.residual, in_order(t.residual.inputs, x.at)));
  Numbers placement(static_cast<std::size_t>(12 * moving), Expr(0.0));
  const auto number = [](int n) { return static_cast<std::size_t>(n); };
  for (int i = 1; i < moving; i++) {
    const auto at = [&](int k) { return now.at("placement")[number(12 * i + k)]; };
    const auto bar = [&](int k) { return pose[number(6 * i + k)]; };
    const Vec3<Expr> r(at(9), at(10), at(11)), force(bar(3), bar(4), bar(5));
    const Vec3<Expr> moment = Vec3<Expr>(bar(0), bar(1), bar(2)) - cross(r, force);
    for (int c = 0; c < 3; c++) {
      const Vec3<Expr> turned = cross(moment, Vec3<Expr>(at(c), at(3 + c), at(6 + c)));
      for (int k = 0; k < 3; k++) placement[number(12 * i + 3 * k + c)] = Expr(0.5) * turned(k);
      placement[number(12 * i + 9 + c)] = force(c);
    }
  }
  of_g["placement"] = placement;
  store_bars(t, p, x, summed, of_way,
             by_name(t.residual.inputs,
                     pull_back(t.residual, in_order(t.residual.inputs, x.at), in_order(t.residual.outputs, of_g))));
  return p;
}

}  // namespace featherstorm::stage
