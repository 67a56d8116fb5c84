// The table of operations: the library's table of contents.
//
// One structure per operation: its name, inputs and outputs with their sizes, and the core function. Dispatch, tracing,
// the run-time-model kernels of every backend, the Python functions, test_ops, bench_ops and the docs walk the list
// `Ops` at the end. A new algorithm is its text in core/, its test, and its row here.
//
// run<variant>(m, frame, in, u, out): m the model, `frame` a frame's index (where uses_frame), in[k] the input arrays,
// u[k] the uniform numbers, out[k] the output arrays. Variants are different algorithms for the same map; the
// run-time-model kernels take variant 0, specialisation the one with the fewest operations.
#pragma once
#include <array>
#include <string_view>
#include <tuple>

#include "core/aba.h"
#include "core/crba.h"
#include "core/ltdl.h"
#include "core/newton_euler.h"

namespace featherstorm {

// Number of components of an array, by model.
enum class Size { q, v, h, one, three, six, v_squared, jacobian, bodies6, frames12, two };

template <class M> FS_HD constexpr int size_of(const M& m, Size s) {
  switch (s) {
    case Size::q: return m.nq;
    case Size::v: return m.nv;
    case Size::h: return m.nh;
    case Size::one: return 1;
    case Size::two: return 2;
    case Size::three: return 3;
    case Size::six: return 6;
    case Size::v_squared: return m.nv * m.nv;
    case Size::jacobian: return 6 * m.nv;
    case Size::bodies6: return 6 * m.nb;
    case Size::frames12: return 12 * m.nf;
  }
  return 0;
}

struct OpArray {
  std::string_view name;
  Size size;
};
template <int inputs, int uniforms, int outputs> struct OpInfo {
  std::string_view name, summary;
  std::array<OpArray, inputs> in;
  std::array<std::string_view, uniforms> uniform;
  std::array<OpArray, outputs> out;
  bool uses_frame = false;
  bool per_body = false;  // depends on the inertia of single bodies, not only on sums over the robot
  bool carried = false;  // outputs 0.. take the place of inputs 0.. in the next pass (substeps)
};

template <class T, class A> FS_HD Zeros<T> none(const A&) { return {}; }

struct OpRnea {
  static constexpr OpInfo<3, 0, 1> info{
      "rnea", "inverse dynamics, tau = M a + C", {{{"q", Size::q}, {"v", Size::v}, {"a", Size::v}}}, {}, {{{"tau", Size::v}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    newton_euler(m, in[0], in[1], in[2], Zeros<ScalarOf<In>>{}, out[0]);
  }
};
struct OpRneaForces {
  static constexpr OpInfo<4, 0, 1> info{"rnea_forces",
                                        "inverse dynamics with external forces on bodies",
                                        {{{"q", Size::q}, {"v", Size::v}, {"a", Size::v}, {"f_ext", Size::bodies6}}},
                                        {},
                                        {{{"tau", Size::v}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    newton_euler(m, in[0], in[1], in[2], in[3], out[0]);
  }
};
struct OpBias {
  static constexpr OpInfo<2, 0, 1> info{
      "bias", "bias force C: gravity, Coriolis, centrifugal", {{{"q", Size::q}, {"v", Size::v}}}, {}, {{{"tau", Size::v}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    using Z = Zeros<ScalarOf<In>>;
    newton_euler(m, in[0], in[1], Z{}, Z{}, out[0]);
  }
};
struct OpCrba {
  static constexpr OpInfo<1, 0, 1> info{
      "crba", "joint-space inertia matrix, packed", {{{"q", Size::q}}}, {}, {{{"M", Size::h}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    crba(m, in[0], out[0]);
  }
};
struct OpLtdl {
  static constexpr OpInfo<1, 0, 1> info{
      "ltdl", "factorisation M = L^T D L of a packed matrix", {{{"M", Size::h}}}, {}, {{{"L", Size::h}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    for (int k = 0; k < m.nh; k++) out[0][k] = in[0][k];
    ltdl(m, out[0]);
  }
};
struct OpSolve {
  static constexpr OpInfo<2, 0, 1> info{"solve",
                                        "x = M^-1 b with the factor of ltdl",
                                        {{{"L", Size::h}, {"b", Size::v}}},
                                        {},
                                        {{{"x", Size::v}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpAba {
  static constexpr OpInfo<3, 0, 1> info{"aba",
                                        "forward dynamics by articulated bodies",
                                        {{{"q", Size::q}, {"v", Size::v}, {"tau", Size::v}}},
                                        {},
                                        {{{"a", Size::v}}}};
  static constexpr int variants = 1;
  template <int, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, int, const In* in, const U*, const Out* out) {
    aba(m, in[0], in[1], in[2], Zeros<ScalarOf<In>>{}, out[0]);
  }
};

using Ops = std::tuple<OpRnea, OpRneaForces, OpBias, OpCrba, OpLtdl, OpSolve, OpAba>;

}  // namespace featherstorm
