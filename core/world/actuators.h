// Actuators of a model file. Controls become a force through an activation; a transmission applies the force to the
// joints.
//
//   activation    rate of act = f(control, act)
//   force         f = gain(length, velocity) (control or act) + bias(length, velocity), within limits
//   transmission  length(q), moment = d length / d q along v; forces of the joints = moment^T f
//
// Kinds and parameters are MuJoCo's (its documentation, chapters "Computation" and "XML reference", actuator). Names of
// MuJoCo are in brackets. An actuator has one control, one force and at most one activation. The exceptions are
// `DcMotor`, `Pid` and `So3`.
#pragma once
#include <vector>

#include "core/world/frame.h"

namespace featherstorm {

// Transmission: the target of the force [trntype].
enum class Transmission : unsigned char { Joint, JointInParent, SliderCrank, Tendon, Site, Adhesion, So3 };
// Activation dynamics of controls [dyntype].
enum class Activation : unsigned char { None, Integrator, Filter, FilterExact, Muscle, DcMotor, Pid };
// Gain and bias of the force [gaintype], [biastype]
enum class Gain : unsigned char { Fixed, Affine, Muscle, DcMotor, So3, Pid };
enum class Bias : unsigned char { None, Affine, Muscle, DcMotor, So3 };

template <class P> struct Actuator {
  Transmission transmission = Transmission::Joint;
  Activation activation = Activation::None;
  Gain gain = Gain::Fixed;
  Bias bias = Bias::None;
  int body = 0;                  // Joint, JointInParent: body of the joint
  int tendon = 0;                // Tendon: its number
  bool relative = false;         // Site, So3: true if `reference` is given
  Frame<P> site{}, reference{};  // Site, So3; SliderCrank: the crank's pin and the slider's site
  std::vector<int> pair;         // Adhesion: pairs with a geom of its body [world.contacts.pair]
  P gear[6] = {};
  P crank_length{};                                      // SliderCrank [m]
  int control = 0, controls = 1;                         // first number of ctrl, and count [ctrladr, ctrlnum]
  unsigned inputs = 0;                                   // bits for the setpoints that the controls provide [ctrlspec]
  int act = 0, acts = 0;                                 // first number of act, and count [actadr, actnum]
  int output = 0, outputs = 1;                           // first force, and count [outadr, outnum]
  P dynamics[10] = {}, gains[10] = {}, biases[10] = {};  // [dynprm, gainprm, biasprm]
  bool act_limited = false;
  P act_lower{}, act_upper{};
  bool act_early = false;  // true: the force uses the next activation [actearly]
  // DcMotor, Pid: index in act of each number, -1 if absent
  int slew = -1, integral = -1, temperature = -1, bristle = -1, current = -1;
  bool periodic = false;  // the length is an angle: setpoints are shifted by whole turns to the nearest one
  bool force_limited = false;
  P force_lower{}, force_upper{};
  P length_lower{}, length_upper{};  // range of the length of muscles [lengthrange]
  P acceleration{};                  // due to a unit force at qpos0 [acc0]
  bool disabled = false;             // in a disabled group: no force, activation does not change
};

// A control and its range [ctrlrange].
template <class P> struct Control {
  bool limited = false;
  P lower{}, upper{};
};

template <class P, class S> Control<P> cast(const Control<S>& c) { return {c.limited, P(c.lower), P(c.upper)}; }
template <class P, class S> Actuator<P> cast(const Actuator<S>& a) {
  Actuator<P> r;
  r.transmission = a.transmission, r.activation = a.activation, r.gain = a.gain, r.bias = a.bias;
  r.body = a.body, r.tendon = a.tendon, r.relative = a.relative;
  r.site = cast<P>(a.site), r.reference = cast<P>(a.reference);
  r.pair = a.pair;
  for (int k = 0; k < 6; k++) r.gear[k] = P(a.gear[k]);
  r.crank_length = P(a.crank_length);
  r.control = a.control, r.controls = a.controls, r.inputs = a.inputs;
  r.act = a.act, r.acts = a.acts, r.output = a.output, r.outputs = a.outputs;
  for (int k = 0; k < 10; k++)
    r.dynamics[k] = P(a.dynamics[k]), r.gains[k] = P(a.gains[k]), r.biases[k] = P(a.biases[k]);
  r.act_limited = a.act_limited, r.act_lower = P(a.act_lower), r.act_upper = P(a.act_upper), r.act_early = a.act_early;
  r.force_limited = a.force_limited, r.force_lower = P(a.force_lower), r.force_upper = P(a.force_upper);
  r.length_lower = P(a.length_lower), r.length_upper = P(a.length_upper), r.acceleration = P(a.acceleration);
  r.slew = a.slew, r.integral = a.integral, r.temperature = a.temperature, r.bristle = a.bristle;
  r.current = a.current, r.periodic = a.periodic;
  r.disabled = a.disabled;
  return r;
}

}  // namespace featherstorm
