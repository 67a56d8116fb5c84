// Calls of the table's operations with arrays of arguments.
//
// The function of an operation names its arguments. An array of one number is passed as a number, unless it is an
// output:
//
//   run(m, [frame,] inputs..., uniforms..., outputs...)
//
// (nvcc 13 accepts at most nine `auto` parameters; operations with more name the types of inputs, uniforms, numbers
// and outputs.)
//
// A `common` operation with optional inputs, and one of a world, has two forms: with these inputs and without. In the
// form without, the inputs are Zeros, so that nothing is computed with them. All other operations have one form, with
// all inputs.
#pragma once
#include <array>
#include <utility>

#include "core/scalar/scalar.h"
#include "host/table/row/list.h"
#include "host/table/row/operation.h"

namespace featherstorm {

// Stands for an argument of a core function that the operation does not have.
template <class Q>
FS_HD Zeros<ScalarOf<Q>> none(const Q&) {
  return {};
}

enum class Optional : unsigned char { only, absent, given };  // only: the operation has no other form

constexpr bool has_optional(const OpInfo& info) {
  for (const OpArray& a : info.in)
    if (a.optional()) return true;
  return false;
}
constexpr bool has_two_forms(const OpInfo& info) {
  return (info.common || info.needs == Needs::world) && has_optional(info);
}

// "rnea" without optional inputs, "rnea_f_ext" with them.
template <class Op>
struct GivenName {
  static constexpr std::string_view suffix = "_f_ext";
  static constexpr auto text = [] {
    std::array<char, Op::info.name.size() + suffix.size() + 1> all{};
    std::size_t k = 0;
    for (char c : Op::info.name) all[k++] = c;
    for (char c : suffix) all[k++] = c;
    return all;
  }();
};

template <class Op, Optional optional>
constexpr OpInfo info_of_form() {
  OpInfo info = Op::info;
  if (optional == Optional::only) return info;
  if (optional == Optional::given) {
    info.name = std::string_view(GivenName<Op>::text.data()), info.form_of = Op::info.name;
    return info;
  }
  info.in = {};
  for (const OpArray& a : Op::info.in)
    if (!a.optional()) info.in.push_back(a);
  return info;
}

template <class Operation, Optional optional>
struct Form {
  using Row = Operation;
  static constexpr OpInfo info = info_of_form<Row, optional>();

  // in[k] input arrays, u[k] uniform arrays, out[k] output arrays, in the order of `info`.
  template <int variant, class M, class In, class U, class Out>
  FS_HD static void run(const M& m, [[maybe_unused]] int frame, const In* in, [[maybe_unused]] const U* u,
                        const Out* out) {
    call<variant>(m, frame, in, u, out, std::make_index_sequence<Row::info.in.size()>{},
                  std::make_index_sequence<info.uniform.size()>{}, std::make_index_sequence<info.out.size()>{});
  }

 private:
  // The index of the operation's input k among the inputs of the form; -1: it is absent.
  static constexpr int place(std::size_t k) {
    if (optional != Optional::absent) return static_cast<int>(k);
    if (Row::info.in[k].optional()) return -1;
    int at = 0;
    for (std::size_t i = 0; i < k; i++) at += !Row::info.in[i].optional();
    return at;
  }
  template <std::size_t k, class In>
  FS_HD static auto input(const In* in) {
    constexpr int at = place(k);
    if constexpr (at < 0) return Zeros<ScalarOf<In>>{};
    else if constexpr (Row::info.in[k].shape == Shape{1}) return ScalarOf<In>(in[at][0]);
    else return in[at];
  }
  template <std::size_t k, class U>
  FS_HD static auto uniform(const U* u) {
    if constexpr (info.uniform[k].shape == Shape{1}) return ScalarOf<const U>(u[k][0]);
    else return &u[k][0];
  }
  template <int variant, class M, class In, class U, class Out, std::size_t... i, std::size_t... j, std::size_t... k>
  FS_HD static void call(const M& m, [[maybe_unused]] int frame, const In* in, [[maybe_unused]] const U* u,
                         const Out* out, std::index_sequence<i...>, std::index_sequence<j...>,
                         std::index_sequence<k...>) {
    if constexpr (info.variants > 1) {
      if constexpr (info.uses_frame) Row::template run<variant>(m, frame, input<i>(in)..., uniform<j>(u)..., out[k]...);
      else Row::template run<variant>(m, input<i>(in)..., uniform<j>(u)..., out[k]...);
    } else {
      if constexpr (info.uses_frame) Row::run(m, frame, input<i>(in)..., uniform<j>(u)..., out[k]...);
      else Row::run(m, input<i>(in)..., uniform<j>(u)..., out[k]...);
    }
  }
};

// The forms of a list of operations.
template <class Op>
constexpr auto forms_of() {
  if constexpr (has_two_forms(Op::info)) return List<Form<Op, Optional::absent>, Form<Op, Optional::given>>{};
  else return List<Form<Op, Optional::only>>{};
}
// The form without optional inputs, or the only form.
template <class Op>
using FirstForm = Element<0, decltype(forms_of<Op>())>;
template <class Rows>
struct FormsOf;
template <class... Op>
struct FormsOf<List<Op...>> {
  using type = Joined<decltype(forms_of<Op>())...>;
};

}  // namespace featherstorm
