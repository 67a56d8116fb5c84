#include "host/assemble/assemble.h"

#include "host/system/error.h"

#if FEATHERSTORM_XBYAK
#include <xbyak/xbyak.h>

#include <algorithm>
#include <numeric>

#include "core/program/hoist.h"
#include "host/assemble/frame.h"
#include "host/system/interruption.h"

namespace featherstorm {
namespace {

using Xbyak::Operand;
using Xbyak::Xmm;  // a vector register of any width

constexpr int largest_frame = 512 << 10;  // [bytes]

// System V: rdi model, rsi in, rdx out, rcx repeat, r8 first, r9 count.
//
//   rax  an address              r10  byte offset of the current instances in each component
//   rdi  repetitions left        r11  the last such offset + 1
//   r9   constants
//   rsp  frame: slots, uniform inputs (one vector each), state (carried inputs), values of all repetitions
//        (hoist.h), next (outputs of a carried program), then the caller's rsp
//   bases_  addresses of the near places of the frame (frame.h)
class Encoder : public Xbyak::CodeGenerator {
 public:
  // parts: the program, or, if it is split (hoist.h), its repeated part, its set-up part and the whole program. The
  // whole program runs single repetitions, which would not gain from storing values of the set-up.
  Encoder(const Program& p, std::vector<Allocation> parts, bool avx512, bool double_precision)
      : CodeGenerator(1 << 16, Xbyak::AutoGrow),
        p_(p),
        parts_(std::move(parts)),
        avx512_(avx512),
        double_(double_precision),
        bytes_(avx512 ? 64 : 32),
        real_(double_ ? 8 : 4) {
    int at = 0;
    derived_ = split() ? static_cast<int>(p.inputs.size()) - 1 : -1;
    const auto reserve = [&](const std::vector<Program::Array>& arrays, auto&& wanted) {
      std::vector<int> begin(arrays.size(), -1);
      for (std::size_t k = 0; k < arrays.size(); k++)
        if (wanted(static_cast<int>(k))) begin[k] = at, at += arrays[k].size;
      return begin;
    };
    in_frame_ = reserve(p.inputs, [&](int k) { return p.inputs[k].uniform || p.is_carried(k) || k == derived_; });
    out_frame_ = reserve(p.outputs, [&](int) { return carried(); });
    for (Allocation& a : parts_) put_constants_in_order(a);
    if (!carried()) bases_.insert(bases_.begin() + 2, {rcx, rdi});  // no repetitions
    frame_ = place_in_frame(
        parts_, at,
        [&](const Move& m, int operand, int part) { return operand < 0 ? held(m, part) : held(m.operand[operand]); },
        window() * static_cast<int>(bases_.size()));
    const int frame_size = (frame_.size + 1) * bytes_;
    if (frame_size > largest_frame) throw Error("the program needs too many values at the same time to be assembled");
    encode(frame_size);
    ready(PROTECT_RE);
  }

  int width() const { return bytes_ / real_; }

 private:
  bool carried() const { return !p_.carried.empty(); }
  bool split() const { return parts_.size() > 1; }
  Xmm vector(int i) const {
    if (avx512_) return Xbyak::Zmm(i);
    return Xbyak::Ymm(i);
  }

  // A displacement of a byte counts bytes, with AVX-512 vectors.
  int displacement_unit() const { return avx512_ ? bytes_ : 1; }
  int constant_unit() const { return avx512_ ? real_ : 1; }
  int window() const { return 256 * displacement_unit() / bytes_; }  // vectors
  Xbyak::Address frame(int place) const {
    const int base = place / window() < static_cast<int>(bases_.size()) ? place / window() : 0;
    return ptr[bases_[base] + ((place - base * window()) * bytes_ - 128 * displacement_unit())];
  }
  // The value held in the frame that is this operand, and that a Store writes; -1: it is outside.
  int held(const Place& p) const {
    if (p.kind != Place::Kind::Input || in_frame_[p.index] < 0) return -1;
    return in_frame_[p.index] + p.component;
  }
  int held(const Move& m, int part) const {
    if (part == 1) return in_frame_[derived_] + m.number;
    return carried() ? out_frame_[m.array] + m.number : -1;
  }
  Xbyak::Address held(int i) const { return frame(frame_.held[i]); }

  // The most used constants first, as near to r9 as addresses reach.
  static void put_constants_in_order(Allocation& a) {
    const int n = static_cast<int>(a.constants.size());
    std::vector<int> uses(n), order(n), at(n);
    const auto each = [&](auto&& use) {
      for (Move& m : a.moves)
        for (Place& p : m.operand)
          if (p.kind == Place::Kind::Constant) use(p.index);
    };
    each([&](int& k) { uses[k]++; });
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int k, int l) { return uses[k] > uses[l]; });
    std::vector<std::uint64_t> constants;
    for (int k : order) at[k] = static_cast<int>(constants.size()), constants.push_back(a.constants[k]);
    a.constants = std::move(constants);
    each([&](int& k) { k = at[k]; });
  }

  void encode(int frame_size) {
    Xbyak::Label pool, instances, done;
    const Xbyak::Reg64 kept[] = {rbp, rbx, r12, r13, r14, r15};  // of the caller
    for (const Xbyak::Reg64& r : kept) push(r);
    imul(r10, r8, real_);
    add(r9, r8);
    imul(r11, r9, real_);
    lea(r9, ptr[rip + pool]);
    add(r9, 128 * constant_unit());
    mov(rax, rsp);
    sub(rsp, frame_size);
    and_(rsp, -64);
    mov(ptr[rsp + frame_.size * bytes_], rax);
    for (int k = 0; k < static_cast<int>(bases_.size()); k++)
      lea(bases_[k], ptr[rsp + k * window() * bytes_ + 128 * displacement_unit()]);
    for (int k = 0; k < static_cast<int>(p_.inputs.size()); k++) {
      if (!p_.inputs[k].uniform) continue;
      mov(rax, ptr[rsi + 16 * k]);
      for (int c = 0; c < p_.inputs[k].size; c++) {
        broadcast(vector(0), ptr[rax + c * real_]);
        vmovups(held(in_frame_[k] + c), vector(0));
      }
    }
    cmp(r10, r11);
    jge(done, T_NEAR);
    align(64);
    L(instances);
    if (carried()) passes();
    else body(0);
    add(r10, bytes_);
    cmp(r10, r11);
    jl(instances, T_NEAR);
    L(done);
    vzeroupper();
    mov(rsp, ptr[rsp + frame_.size * bytes_]);
    for (int k = static_cast<int>(std::size(kept)) - 1; k >= 0; k--) pop(kept[k]);
    ret();
    align(64);
    L(pool);
    for (const Allocation& a : parts_)
      for (std::uint64_t c : a.constants)
        for (int lane = 0; lane < (avx512_ ? 1 : width()); lane++) db(c, real_);
  }

  void broadcast(const Xmm& to, const Xbyak::Address& from) {
    if (!double_) return vbroadcastss(to, from);
    if (avx512_) return vbroadcastsd(Xbyak::Zmm(to.getIdx()), from);
    vbroadcastsd(Xbyak::Ymm(to.getIdx()), from);
  }

  // Component c of array k, `side` rsi or rdx; puts its address into rax.
  Xbyak::Address component(const Xbyak::Reg64& side, int k, int c) {
    if (c == 0) {
      mov(rax, ptr[side + 16 * k]);
    } else {
      imul(rax, ptr[side + 16 * k + 8], c * real_);
      add(rax, ptr[side + 16 * k]);
    }
    return ptr[rax + r10];
  }

  // The memory operand of a place.
  Xbyak::Address memory(const Place& p, bool as_operand) {
    if (p.kind == Place::Kind::Slot) return frame(p.index);
    if (p.kind == Place::Kind::Constant) {
      const int at = p.index + constants_before_;
      if (!avx512_) return ptr[r9 + (at * bytes_ - 128)];
      const int from = at * real_ - 128 * constant_unit();
      return as_operand ? ptr_b[r9 + from] : ptr[r9 + from];
    }
    if (const int i = held(p); i >= 0) return held(i);
    return component(rsi, p.index, p.component);
  }

  // For carried programs: the state is kept in the frame, and the outputs of a repetition replace it.
  void passes() {
    for (int k = 0; k < static_cast<int>(p_.inputs.size()); k++)
      for (int c = 0; p_.is_carried(k) && c < p_.inputs[k].size; c++) {
        vmovups(vector(0), component(rsi, k, c));
        vmovups(held(in_frame_[k] + c), vector(0));
      }
    Xbyak::Label pass, single, done;
    if (split()) {
      cmp(rcx, 1);
      je(single, T_NEAR);
      body(1);
    }
    mov(rdi, rcx);
    align(64);
    L(pass);
    body(0);
    for (auto [from, to] : p_.carried)
      for (int c = 0; c < p_.outputs[from].size; c++) {
        vmovups(vector(0), held(out_frame_[from] + c));
        vmovups(held(in_frame_[to] + c), vector(0));
      }
    dec(rdi);
    jnz(pass, T_NEAR);
    if (split()) {
      jmp(done, T_NEAR);
      L(single);
      body(2);
      L(done);
    }
    for (int k = 0; k < static_cast<int>(p_.outputs.size()); k++)
      for (int c = 0; c < p_.outputs[k].size; c++) {
        vmovups(vector(0), held(out_frame_[k] + c));
        vmovups(component(rdx, k, c), vector(0));
      }
  }

  void body(int part) {
    constants_before_ = 0;
    for (int k = 0; k < part; k++) constants_before_ += static_cast<int>(parts_[k].constants.size());
    for (const Move& m : parts_[part].moves) {
      end_if_interrupted();
      const Place& from = m.operand[0];
      switch (m.kind) {
        case Move::Kind::Load:
          if (from.kind == Place::Kind::Constant && avx512_) broadcast(vector(m.result), memory(from, false));
          else vmovups(vector(m.result), memory(from, false));
          break;
        case Move::Kind::Copy: vmovaps(vector(m.result), vector(from.index)); break;
        case Move::Kind::Spill: vmovups(frame(m.number), vector(from.index)); break;
        case Move::Kind::Store: {
          const int i = held(m, part);
          vmovups(i >= 0 ? held(i) : component(rdx, m.array, m.number), vector(from.index));
          break;
        }
        case Move::Kind::Compute: compute(m); break;
      }
    }
  }

  void compute(const Move& m) {
    const Xmm r = vector(m.result);
    // the operands in registers; one operand may be in memory, and must be the instruction's last
    Xmm x[3];
    Xbyak::Address a = ptr[rax];
    int in_memory = -1;
    for (int k = 0; k < arity(m.code); k++) {
      if (m.operand[k].kind == Place::Kind::Register) x[k] = vector(m.operand[k].index);
      else a = memory(m.operand[k], true), in_memory = k;
    }
    const auto last = [&](int k) -> const Operand& {
      if (k == in_memory) return a;
      return x[k];
    };
    // one instruction for float, one for double
#define FEATHERSTORM_BY_TYPE(ps, pd, ...) return double_ ? pd(__VA_ARGS__) : ps(__VA_ARGS__)
#define FEATHERSTORM_COMMUTATIVE(ps, pd)                              \
  if (in_memory == 0) FEATHERSTORM_BY_TYPE(ps, pd, r, x[1], last(0)); \
  FEATHERSTORM_BY_TYPE(ps, pd, r, x[0], last(1))
    switch (m.code) {
      case Code::Add: FEATHERSTORM_COMMUTATIVE(vaddps, vaddpd);
      case Code::Mul: FEATHERSTORM_COMMUTATIVE(vmulps, vmulpd);
      case Code::Min: FEATHERSTORM_COMMUTATIVE(vminps, vminpd);
      case Code::Max: FEATHERSTORM_COMMUTATIVE(vmaxps, vmaxpd);
      case Code::And:
        if (avx512_) { FEATHERSTORM_COMMUTATIVE(vpandd, vpandq); }
        FEATHERSTORM_COMMUTATIVE(vandps, vandpd);
      case Code::Or:
        if (avx512_) { FEATHERSTORM_COMMUTATIVE(vpord, vporq); }
        FEATHERSTORM_COMMUTATIVE(vorps, vorpd);
      case Code::Xor:
        if (avx512_) { FEATHERSTORM_COMMUTATIVE(vpxord, vpxorq); }
        FEATHERSTORM_COMMUTATIVE(vxorps, vxorpd);
      case Code::Sub: FEATHERSTORM_BY_TYPE(vsubps, vsubpd, r, x[0], last(1));
      case Code::Div: FEATHERSTORM_BY_TYPE(vdivps, vdivpd, r, x[0], last(1));
      case Code::Sqrt: FEATHERSTORM_BY_TYPE(vsqrtps, vsqrtpd, r, last(0));
      case Code::Floor:
        if (avx512_) FEATHERSTORM_BY_TYPE(vrndscaleps, vrndscalepd, r, last(0), 9);
        FEATHERSTORM_BY_TYPE(vroundps, vroundpd, r, last(0), 9);
      case Code::IntegerAdd: FEATHERSTORM_COMMUTATIVE(vpaddd, vpaddq);
      case Code::IntegerSub: FEATHERSTORM_BY_TYPE(vpsubd, vpsubq, r, x[0], last(1));
      case Code::ShiftRight: FEATHERSTORM_BY_TYPE(vpsrld, vpsrlq, r, x[0], static_cast<std::uint8_t>(m.number));
      case Code::ShiftLeft: FEATHERSTORM_BY_TYPE(vpslld, vpsllq, r, x[0], static_cast<std::uint8_t>(m.number));
      case Code::Less:
      case Code::LessEqual: {
        const std::uint8_t how = m.code == Code::Less ? 1 : 2;
        if (!avx512_) FEATHERSTORM_BY_TYPE(vcmpps, vcmppd, r, x[0], last(1), how);
        double_ ? vcmppd(k1, x[0], last(1), how) : vcmpps(k1, x[0], last(1), how);
        FEATHERSTORM_BY_TYPE(vpmovm2d, vpmovm2q, r, k1);
      }
      case Code::Select:
        if (!avx512_) FEATHERSTORM_BY_TYPE(vblendvps, vblendvpd, r, x[2], last(1), x[0]);
        double_ ? vpmovq2m(k1, x[0]) : vpmovd2m(k1, x[0]);
        FEATHERSTORM_BY_TYPE(vblendmps, vblendmpd, r | k1, x[2], last(1));
        // 132: r = r x3 + x2,  213: r = x2 r + x3,  231: r = x2 x3 + r;  x3 may be memory
#define FEATHERSTORM_MULTIPLY_ADD(name)                                                          \
  if (m.destroyed == 2) {                                                                        \
    const int f = in_memory == 0 ? 0 : 1;                                                        \
    FEATHERSTORM_BY_TYPE(name##231ps, name##231pd, x[2], x[1 - f], last(f));                     \
  }                                                                                              \
  if (in_memory == 1 - m.destroyed)                                                              \
    FEATHERSTORM_BY_TYPE(name##132ps, name##132pd, x[m.destroyed], x[2], last(1 - m.destroyed)); \
  FEATHERSTORM_BY_TYPE(name##213ps, name##213pd, x[m.destroyed], x[1 - m.destroyed], last(2))
      case Code::MulAdd: FEATHERSTORM_MULTIPLY_ADD(vfmadd);
      case Code::MulSub: FEATHERSTORM_MULTIPLY_ADD(vfmsub);
      case Code::SubMul: FEATHERSTORM_MULTIPLY_ADD(vfnmadd);
      case Code::Store: return;
    }
#undef FEATHERSTORM_BY_TYPE
#undef FEATHERSTORM_COMMUTATIVE
#undef FEATHERSTORM_MULTIPLY_ADD
  }

  const Program& p_;
  std::vector<Allocation> parts_;
  std::vector<Xbyak::Reg64> bases_ = {rbp, rbx, r8, r13, r14, r15, r12};  // the shortest addresses first
  FrameLayout frame_;
  int derived_ = -1,
      constants_before_ = 0;  // input array of values shared by all repetitions; number of constants of preceding parts
  bool avx512_, double_;
  int bytes_, real_;                       // bytes of a vector, bytes of a number
  std::vector<int> in_frame_, out_frame_;  // array -> its first value held in the frame, -1 if it is outside
};

}  // namespace

bool can_assemble(const std::string& isa) { return isa == "avx512" || isa == "avx2"; }

AssembledKernel assemble(const Program& p, const std::vector<int>& order, const std::string& isa, Precision precision) {
  if (!can_assemble(isa)) throw Error("kernels cannot be assembled for the instruction set '" + isa + "'");
  const bool avx512 = isa == "avx512", double_precision = precision == Precision::float64;
  std::vector<Allocation> parts;
  const auto add = [&](const Program& part, const std::vector<int>& statements, const Fusion& fusion) {
    parts.push_back(allocate(straight_line(part, statements, double_precision, fusion), avx512 ? 32 : 16));
  };
  const std::optional<Split> split = hoist(p);
  if (split) {
    add(split->pass, pass_order(*split, order), split->pass_fusion);
    add(split->setup, setup_order(*split, order), split->setup_fusion);
  }
  add(p, order, fuse(p));
  AssembledKernel k;
  k.instructions = static_cast<int>(parts[0].moves.size());
  for (const Move& m : parts[0].moves) k.spills += m.kind == Move::Kind::Spill;
  const auto code = std::make_shared<Encoder>(split ? split->pass : p, std::move(parts), avx512, double_precision);
  k.kernel = code->getCode<Kernel>();
  k.code = code;
  k.width = code->width();
  k.bytes = code->getSize();
  return k;
}

}  // namespace featherstorm

#else

namespace featherstorm {

bool can_assemble(const std::string&) { return false; }
AssembledKernel assemble(const Program&, const std::vector<int>&, const std::string&, Precision) {
  throw Error("this featherstorm was built without Xbyak, so kernels cannot be assembled");
}

}  // namespace featherstorm
#endif
