// Pinocchio's generated code for peers.py: its algorithms traced by CppADCodeGen for one robot, compiled on first use by PEER_COMPILER,
// evaluated one state a call in double.
#include <pinocchio/codegen/cppadcg-algo.hpp>  // before all others of its own

#include <unistd.h>
#include <pinocchio/algorithm/cholesky.hpp>

#include "bench/peers/pinocchio_model.h"
#include "bench/peers/serve.h"

namespace pin = pinocchio;
using Eigen::VectorXd;

namespace {

// y = f(x) with x = (q, v, a or tau)
template <class Map> class Generated : public pin::CodeGenBase<double> {
 public:
  Generated(const pin::Model& model, long outputs, const std::string& name, Map map)
      : CodeGenBase(model, model.nq + 2 * model.nv, outputs, name, "./generated_" + name), map_(map) {
    build_jacobian = false;
    initLib();
    CppAD::cg::GccCompiler<double> compiler(PEER_COMPILER);
    std::vector<std::string> flags = compiler.getCompileFlags();
    flags[0] = "-O3";
    flags.insert(flags.end(), {"-march=native", "-ffast-math"});
    compiler.setCompileFlags(flags);
    dynamicLibManager_ptr->createDynamicLibrary(compiler, false);
    loadLib(false);
  }
  void buildMap() override {
    CppAD::Independent(ad_X);
    const long nq = ad_model.nq, nv = ad_model.nv;
    map_(ad_model, ad_data, ADVectorXs(ad_X.head(nq)), ADVectorXs(ad_X.segment(nq, nv)), ADVectorXs(ad_X.tail(nv)),
         ad_Y);
    ad_fun.Dependent(ad_X, ad_Y);
    ad_fun.optimize("no_compare_op");
  }
  void evaluate(const VectorXd& x) { evalFunction(x); }
  const VectorXd& result() const { return y; }

 private:
  Map map_;
};

}  // namespace

int main(int, char** argv) {
  const pin::Model model = peers::read_model(argv[1]);
  const peers::States s = peers::read_states(argv[2]);
  const long nq = s.nq, nv = s.nv;
  char folder[] = "/tmp/peer-XXXXXX";
  if (mkdtemp(folder) == nullptr || chdir(folder) != 0) return 1;
  // states by the last part of x
  std::vector<VectorXd> with_a, with_tau;
  for (long k = 0; k < s.count; k++) {
    const auto row = [&](const std::vector<double>& x, long n) {
      return Eigen::Map<const VectorXd>(x.data() + k * n, n);
    };
    VectorXd x(nq + 2 * nv);
    x << row(s.q, nq), row(s.v, nv), row(s.a, nv);
    with_a.push_back(x);
    x.tail(nv) = row(s.tau, nv);
    with_tau.push_back(x);
  }
  std::map<std::string, std::function<peers::Op()>> makers;
  std::map<std::string, peers::Op> ops;
  // outputs   numbers that the code computes;  of a symmetric matrix its upper half by rows, if `matrix`
  const auto add = [&](const std::string& name, const std::vector<VectorXd>& x, long outputs, bool matrix, auto map) {
    makers[name] = [=, &x, &s, &model] {
      const auto code = std::make_shared<Generated<decltype(map)>>(model, outputs, name, map);
      return peers::Op{matrix ? nv * nv : outputs,
                       [=, &x] {
                         for (const VectorXd& state : x) code->evaluate(state);
                       },
                       [=, &x](long k, double* to) {
                         code->evaluate(x[k]);
                         const VectorXd& y = code->result();
                         if (!matrix) {
                           Eigen::Map<VectorXd>(to, outputs) = y;
                           return;
                         }
                         long at = 0;
                         for (long i = 0; i < nv; i++)
                           for (long j = i; j < nv; j++) to[i * nv + j] = to[j * nv + i] = y[at++];
                       }};
    };
  };
  add("rnea", with_a, nv, false,
      [](auto& m, auto& d, const auto& q, const auto& v, const auto& a, auto& y) { y = pin::rnea(m, d, q, v, a); });
  add("crba", with_a, nv * (nv + 1) / 2, true, [](auto& m, auto& d, const auto& q, const auto&, const auto&, auto& y) {
    pin::crba(m, d, q, pin::Convention::LOCAL);
    long at = 0;
    for (long i = 0; i < m.nv; i++)
      for (long j = i; j < m.nv; j++) y[at++] = d.M(i, j);
  });
  add("aba", with_tau, nv, false, [](auto& m, auto& d, const auto& q, const auto& v, const auto& tau, auto& y) {
    y = pin::aba(m, d, q, v, tau, pin::Convention::LOCAL);
  });
  add("fd_factor", with_tau, nv, false, [](auto& m, auto& d, const auto& q, const auto& v, const auto& tau, auto& y) {
    pin::crba(m, d, q, pin::Convention::LOCAL);
    pin::cholesky::decompose(m, d);
    y = tau - pin::nonLinearEffects(m, d, q, v);
    pin::cholesky::solve(m, d, y);
  });
  // three matrices by columns, as in pinocchio.cpp
  const auto three = [](auto& m, auto& y, const auto& first, const auto& second, const auto& upper) {
    long at = 0;
    for (const auto* x : {&first, &second})
      for (long j = 0; j < m.nv; j++)
        for (long i = 0; i < m.nv; i++) y[at++] = (*x)(i, j);
    for (long j = 0; j < m.nv; j++)
      for (long i = 0; i < m.nv; i++) y[at++] = i <= j ? upper(i, j) : upper(j, i);
  };
  using Matrix = pin::CodeGenBase<double>::ADMatrixXs;
  add("aba_derivatives", with_tau, 3 * nv * nv, false,
      [=](auto& m, auto& d, const auto& q, const auto& v, const auto& tau, auto& y) {
        pin::computeABADerivatives(m, d, q, v, tau);
        three(m, y, Matrix(d.ddq_dq), Matrix(d.ddq_dv), Matrix(d.Minv));
      });
  add("rnea_derivatives", with_a, 3 * nv * nv, false,
      [=](auto& m, auto& d, const auto& q, const auto& v, const auto& a, auto& y) {
        pin::computeRNEADerivatives(m, d, q, v, a);
        three(m, y, Matrix(d.dtau_dq), Matrix(d.dtau_dv), Matrix(d.M));
      });
  peers::serve(s.count, [&](const std::string& name) -> const peers::Op* {
    if (!makers.count(name)) return nullptr;
    if (!ops.count(name)) ops[name] = makers[name]();
    return &ops[name];
  });
}
