// Slots of the rows of one pack of instances (core/limbs/row_slots.h).
//
// Contacts of a body with the world take slots of that body and of their number of rows. Rows with a Jacobian J take
// slots of their type. Rows lie in slots as bricks lie in a wall: the rows of some instances are laid in one slot, on
// top of all that these instances have there. The order of an instance's rows therefore does not depend on other
// instances. In a slot, the numbers of instances without rows are zero.
#pragma once
#include "host/contacts/find_rows.h"

namespace featherstorm {

template <class T> struct RowSlots {
  RowSlot* slot;
  ScratchArray<T> numbers;
  int* first;               // of each body and group of rows, and of each type of rows with J; or -1
  int* pair_of;             // (slots, lanes)  pairs of contacts with J
  unsigned short* slot_of;  // (blocks, lanes)  of PresentRows
  int groups;
  int count = 0, used = 0;

  // Take a slot for rows of some instances, and call visit(slot, is_new). It is the first one after those that these
  // instances have, so that the order of an instance's rows does not depend on other instances.
  //
  // in  like   kind, rows, body, type;  chain  index in `first`
  // in  block  of PresentRows, or -1 if its slots need not be recorded
  // in  size   count of numbers after those of SlotLayout
  FS_HD void take(const RowSlot& like, int chain, int block, int size, unsigned instances, auto&& visit) {
    int* link = first + chain;
    for (const int* at = link; *at >= 0;) {
      RowSlot& s = slot[*at];
      at = &s.next;
      if ((s.there & instances) != 0) link = &s.next;
    }
    const bool is_new = *link < 0;
    if (is_new) {
      RowSlot& s = slot[count];
      s = like, s.numbers = used, s.next = -1, s.there = 0;
      const int geometry = slot_geometry(s.kind, s.rows);
      for (int k = slot_zeros(s.kind, s.rows); k < geometry; k++) numbers[used + k] = T(0.0);
      *link = count++, used += geometry + size;
    }
    RowSlot& s = slot[*link];
    s.there |= instances;
    for (unsigned left = instances; left != 0 && block >= 0; left &= left - 1)
      slot_of[block * lanes<T> + lowest_bit(left)] = static_cast<unsigned short>(*link);
    visit(s, is_new);
  }
  // List the slots in the order of bodies, then of types. first_slot: first slot of each body, then of those with J.
  FS_HD void sort(int nb, int types, int* order, int* first_slot) const {
    int n = 0;
    for (int b = 0, i = 0; b <= nb + 1; b++) {
      first_slot[b] = n;
      for (const int end = i + (b <= nb ? groups : types); i < end; i++)
        for (int s = first[i]; s >= 0; s = slot[s].next) order[n++] = s;
    }
  }
};

// Receives the rows that are found (find_rows.h), and stores them in slots.
template <class T, class Solver> class RowsToSlots {
 public:
  static constexpr bool wants_jacobian = false, takes_single_contacts = true;
  // in  axis (6 nv)  of coordinates about reference points;  reference (3 (nb + 1))  reference points of bodies
  // in  reads  whether contacts are kept for readings
  FS_HD RowsToSlots(const Solver& solver, ScratchArray<T> axis, ScratchArray<T> reference, bool reads,
                    RowSlots<T>& slots)
      : solver_(solver),
        axis_(axis),
        reference_(reference),
        reads_(reads),
        slots_(slots),
        jacobian_(weighs_by_jacobian(solver) ? most_rows * solver.nv : 0),
        D_(most_rows),
        aref_(most_rows),
        friction_(most_rows) {}
  FS_HD auto jacobian() { return jacobian_.data(); }
  FS_HD auto D() { return D_.data(); }
  FS_HD auto aref() { return aref_.data(); }
  FS_HD auto friction() { return friction_.data(); }

  FS_HD void add_constraint(const auto& in, int i, int block, unsigned instances) {
    const auto& of = solver_.limbs;
    const PackedBlock& b = solver_.constraints.block[i];
    const int type = of.type_of[0][i], columns = of.type[type].columns;
    constexpr std::integral_constant<int, 1> one_row{};
    slots_.take(
        {b.kind, 1, 0, type, 0, -1, 0}, chain_of_type(type), block, columns, instances, [&](RowSlot& s, bool is_new) {
          const auto x = set_rows(s, one_row, ConstraintRows<ScratchArray<T>>{{}, {}, D(), aref(), {}, friction()},
                                  instances, is_new);
          for (int k = 0; k < columns && is_new; k++) x[k] = T(0.0);
          for (int k = 0; k < b.columns; k++) {
            const int v = solver_.constraints.column[b.column + k], at = of.place_of[0][b.column + k];
            const T j = keep(instances, T(in.jacobian[b.entry + k]));
            if (of.free_dof[v] < 0) x[at] = x[at] + j;
            else  // the limb's columns are those of its body's spatial acceleration
              for (int l = 0; l < 6; l++) x[at + l] = x[at + l] + j * axis_[6 * v + l];
          }
        });
  }

  // in  rows  number of rows;  numbers  D, aref and friction of the rows
  FS_HD void add_contact(int p, int block, auto rows, const auto& numbers, const Candidate<T>& c, unsigned instances) {
    const RowSlot like = slot_like(p);
    if (like.body == 0 && like.type < 0) return;  // the contact moves no coordinate
    const T sign(solver_.limbs.body_of[p] < 0 ? -1.0 : 1.0);
    slots_.take(like, chain_of(like, p), noted(block), size_of(like), instances, [&](RowSlot& s, bool is_new) {
      const auto x = set_rows(s, rows, numbers, instances, is_new) + place_of_contact(like);
      for (int i = 0; i < 3; i++) {
        lay(x[i], T(c.contact.point(i) - origin(like.body, i)), instances, is_new);
        for (int k = 0; k < 3; k++) lay(x[3 + 3 * k + i], T(sign * c.frame.e[k](i)), instances, is_new);
      }
      note_pair(s, p, instances);
    });
  }

  // Add a contact of one instance (pair_lists.h). Its numbers are in lane k of `row`: aref, D, coefficients, point,
  // axes.
  void add_contact_of(int p, int block, int instance, const T* row, int k) {
    using Number = typename NumberIn<T>::Type;
    const RowSlot like = slot_like(p);
    if (like.body == 0 && like.type < 0) return;
    const int d = like.rows;
    slots_.take(like, chain_of(like, p), noted(block), size_of(like), 1u << instance, [&](RowSlot& s, bool is_new) {
      const auto x = slots_.numbers + s.numbers, at = x + slot_geometry(s.kind, d) + place_of_contact(like);
      for (int i = 0; i < 2 * d && is_new; i++) x[i] = T(0.0);
      for (int i = 0; i < point_and_axes && is_new; i++) at[i] = T(0.0);
      // coefficients must not be zero in lanes without the contact
      for (int i = 0; i < d && is_new; i++) x[2 * d + i] = T(number_of<Number>(row[2 * d + i], k));
      const auto set = [&](T& to, const T& from) { number_of<Number>(to, instance) = number_of<Number>(from, k); };
      for (int i = 0; i < 3 * d; i++) set(x[i], row[i]);
      for (int i = 0; i < point_and_axes; i++) set(at[i], row[3 * d + i]);
      for (int i = 0; i < 3 && like.body > 0; i++)
        number_of<Number>(at[i], instance) -= number_of<Number>(reference_[3 * like.body + i], instance);
      for (int i = 3; i < point_and_axes && solver_.limbs.body_of[p] < 0; i++)
        number_of<Number>(at[i], instance) = -number_of<Number>(at[i], instance);
      note_pair(s, p, 1u << instance);
    });
  }

  // Compute J of contacts between moving bodies, in each instance for the pair that it has in the slot.
  FS_HD void make_jacobians() {
    for (int i = 0; i < slots_.count; i++)
      if (const RowSlot& s = slots_.slot[i]; s.body == 0 && solver_.limbs.type[s.type].of_contacts)
        with_rows_of(s.kind, s.rows, [&](auto, auto rows) { make_jacobian<rows>(s, i); });
  }

 private:
  FS_HD static bool weighs_by_jacobian(const Solver& solver) {
    return solver.contacts.slots > 0 && (solver.world.constraints.exact_inertia || solver.world.is_discrete());
  }
  FS_HD int chain_of_type(int type) const { return (solver_.nb + 1) * slots_.groups + type; }
  FS_HD int chain_of(const RowSlot& like, int p) const {
    return like.body > 0 ? like.body * slots_.groups + solver_.group_of[1][p] : chain_of_type(like.type);
  }
  FS_HD RowSlot slot_like(int p) const {
    const auto& group = solver_.group[solver_.group_of[1][p]];
    const int body = solver_.limbs.body_of[p];
    return {group.kind, group.rows, body < 0 ? -body : body, solver_.limbs.type_of[1][p], 0, -1, 0};
  }
  // Points and axes of contacts between moving bodies lie after their J.
  FS_HD int place_of_contact(const RowSlot& s) const {
    return s.body > 0 ? 0 : s.rows * solver_.limbs.type[s.type].columns;
  }
  FS_HD int size_of(const RowSlot& s) const { return place_of_contact(s) + point_and_axes; }
  FS_HD T origin(int body, int i) const { return body > 0 ? T(reference_[3 * body + i]) : T(0.0); }
  FS_HD void note_pair(const RowSlot& s, int p, unsigned here) {
    const int slot = static_cast<int>(&s - slots_.slot);
    if (s.body > 0) return;
    for (; here != 0; here &= here - 1) slots_.pair_of[slot * lanes<T> + lowest_bit(here)] = p;
  }
  // Set a number of these instances in a slot. Those of others stay, or are zero in a new slot.
  FS_HD static void lay(T& to, const T& number, unsigned here, bool is_new) {
    to = is_new ? keep(here, number) : T(select(where<T>(here), number, to));
  }
  // Store D, aref and coefficients of rows; return the address of the numbers after them.
  FS_HD auto set_rows(const RowSlot& s, auto rows, const auto& numbers, unsigned here, bool is_new) {
    const auto x = slots_.numbers + s.numbers;
    const int d = rows, weights = s.kind == RowKind::Cone ? d : 1;
    for (int k = 0; k < d; k++) {
      lay(x[k], T(numbers.aref[k]), here, is_new);
      if (k < weights) lay(x[d + k], T(numbers.D[k]), here, is_new);
      const T friction = numbers.friction[k];
      x[2 * d + k] = is_new ? friction : T(select(where<T>(here), friction, T(x[2 * d + k])));
    }
    return x + slot_geometry(s.kind, d);
  }
  FS_HD int noted(int block) const { return solver_.forces || reads_ ? block : -1; }

  template <int d> FS_HD void make_jacobian(const RowSlot& s, int slot) {
    const auto& of = solver_.limbs;
    const RowType& type = of.type[s.type];
    const int columns = type.columns;
    // instances whose pairs have a coordinate on the path from the second body to the root, and from the first body
    auto up = scratch<unsigned>(2 * columns);
    for (int k = 0; k < 2 * columns; k++) up[k] = 0;
    for (unsigned there = s.there; there != 0; there &= there - 1) {
      const int l = lowest_bit(there), p = slots_.pair_of[slot * lanes<T> + l];
      for (int k = solver_.pairs.start[p]; k < solver_.pairs.start[p + 1]; k++)
        up[2 * of.place_of[1][k] + (solver_.pairs.column[k].first ? 1 : 0)] |= 1u << l;
    }
    const auto J = slots_.numbers + (s.numbers + slot_geometry(s.kind, d)), x = J + d * columns;
    int column = 0, tree = -1;
    T n[d][6];
    for (int k = type.segment; k < type.segment + type.segments; k++) {
      const RowSegment& part = of.segment[k];
      const Limb& limb = of.limb[part.limb];
      if (of.reference[limb.first_body] != tree) {
        tree = of.reference[limb.first_body];
        moments<d>(x, limb.first_body, n);
      }
      for (int i = part.first; i < part.first + part.count; i++, column++) {
        const unsigned plus = up[2 * column], minus = up[2 * column + 1];
        for (int r = 0; r < d; r++) {
          T j(0.0);
          if ((plus | minus) != 0) {
            if (limb.free) j = n[r][i];
            else
              for (int l = 0; l < 6; l++) j = j + axis_[6 * (limb.first + i) + l] * n[r][l];
            j = keep(plus, j) - keep(minus, j);
          }
          J[r * columns + column] = j;
        }
      }
    }
  }
  // Moments n_k, with J_k = S . n_k, of a body that moves about its reference point.
  template <int d> FS_HD void moments(const auto& x, int body, T (&n)[d][6]) const {
    Vec3<T> c;
    for (int i = 0; i < 3; i++) c(i) = x[i] - reference_[3 * body + i];
    for (int k = 0; k < d; k++) {
      const int at = 3 + 3 * (k % 3);
      const Vec3<T> e{x[at], x[at + 1], x[at + 2]}, moment = k < 3 ? cross(c, e) : e;
      for (int i = 0; i < 3; i++) n[k][i] = moment(i), n[k][3 + i] = k < 3 ? e(i) : T(0.0);
    }
  }

  const Solver& solver_;
  ScratchArray<T> axis_, reference_;
  bool reads_;
  RowSlots<T>& slots_;
  Scratch<T> jacobian_, D_, aref_, friction_;
};

}  // namespace featherstorm
