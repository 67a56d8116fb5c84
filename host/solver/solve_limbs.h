// The acceleration under all rows that are present, by Newton's method in blocks of limbs (core/limbs/limb_newton.h).
#pragma once
#include "core/limbs/limb_balance.h"
#include "host/contacts/pair_lists.h"
#include "host/solver/store_results.h"

namespace featherstorm {

// Reference points of bodies: the origin of one body of their tree.
template <class T> FS_HD void reference_points(const auto& solver, const auto& in, auto reference) {
  for (int b = 0; b <= solver.nb; b++)
    for (int i = 0; i < 3; i++) reference[3 * b + i] = in.placement[12 * solver.limbs.reference[b] + 9 + i];
}

// Motion axes S of coordinates about the reference points of their bodies.
template <class T> FS_HD void axes_about(const auto& solver, const auto& in, const auto& reference, auto axis) {
  for (int b = 1; b <= solver.nb; b++) {
    Vec3<T> r;
    for (int i = 0; i < 3; i++) r(i) = reference[3 * b + i] - in.placement[12 * b + 9 + i];
    for (int k = solver.limbs.first_dof[b]; k < solver.limbs.first_dof[b + 1]; k++) {
      const Vec3<T> w{in.axis[6 * k], in.axis[6 * k + 1], in.axis[6 * k + 2]}, turn = cross(w, r);
      for (int i = 0; i < 3; i++) axis[6 * k + i] = w(i), axis[6 * k + 3 + i] = in.axis[6 * k + 3 + i] + turn(i);
    }
  }
}

// Turn the coordinates of a free limb into the spatial acceleration of its body, in place: y = S x. Coordinates 0 to 2
// are linear and 3 to 5 angular velocities (core/joint/free.h). turn_from_body is the inverse x = S^T y, because S is
// orthogonal.
//
// in   axis (6 nv)
template <class T> FS_HD void turn_to_body(const auto& axis, const Limb& free, auto x) {
  T y[6];
  FS_UNROLL for (int i = 0; i < 3; i++) {
    y[i] = y[3 + i] = T(0.0);
    FS_UNROLL for (int k = 0; k < 3; k++) {
      y[i] = y[i] + axis[6 * (free.first + 3 + k) + i] * x[3 + k];
      y[3 + i] = y[3 + i] + axis[6 * (free.first + k) + 3 + i] * x[k];
    }
  }
  FS_UNROLL for (int i = 0; i < 6; i++) x[i] = y[i];
}
template <class T> FS_HD void turn_from_body(const auto& axis, const Limb& free, auto y) {
  T x[6];
  FS_UNROLL for (int k = 0; k < 3; k++) {
    x[k] = x[3 + k] = T(0.0);
    FS_UNROLL for (int i = 0; i < 3; i++) {
      x[k] = x[k] + axis[6 * (free.first + k) + 3 + i] * y[3 + i];
      x[3 + k] = x[3 + k] + axis[6 * (free.first + 3 + k) + i] * y[i];
    }
  }
  FS_UNROLL for (int k = 0; k < 6; k++) y[k] = x[k];
}
template <class T> FS_HD void to_body_accelerations(const auto& solver, const auto& axis, auto x) {
  for (int l = 0; l < solver.limbs.limbs(); l++)
    if (const Limb& limb = solver.limbs.limb[l]; limb.free) turn_to_body<T>(axis, limb, x + limb.first);
}
template <class T> FS_HD void from_body_accelerations(const auto& solver, const auto& axis, auto x) {
  for (int l = 0; l < solver.limbs.limbs(); l++)
    if (const Limb& limb = solver.limbs.limb[l]; limb.free) turn_from_body<T>(axis, limb, x + limb.first);
}

// Store M in blocks of limbs.
template <class T> FS_HD void mass_in_blocks(const auto& solver, const auto& in, const auto& axis, auto mass) {
  const LimbBlocks b = solver.limbs.blocks();
  for (int i = 0; i < b.numbers; i++) {
    const int from = solver.limbs.mass[i];
    mass[i] = from < 0 ? T(0.0) : T(in.inertia[from]);
  }
  for (int n = 0; n < b.limbs; n++) {
    const Limb& free = b.limb[n];
    if (!free.free) continue;
    for_each_in(b.words, b.column_of(n), [&](int m) {
      for (int i = 0; i < b.limb[m].count; i++) turn_to_body<T>(axis, free, mass + (b.at(m, n) + 6 * i));
    });
    // S M S^T
    const auto A = mass + b.at(n, n);
    const auto transpose = [&] {
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) {
          const T x = A[6 * i + j];
          A[6 * i + j] = A[6 * j + i], A[6 * j + i] = x;
        }
    };
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < i; j++) A[6 * j + i] = A[6 * i + j];
    for (int i = 0; i < 6; i++) turn_to_body<T>(axis, free, A + 6 * i);
    transpose();
    for (int i = 0; i < 6; i++) turn_to_body<T>(axis, free, A + 6 * i);
  }
}

// The slots of the rows that are present, with their memory, and the list of the rows.
template <class T> class FoundSlots {
 public:
  // in  read  whether contacts are kept for readings
  FS_HD FoundSlots(const auto& solver, const auto& in, bool read)
      : block_(blocks(solver)),
        contact_(read ? solver.contacts.slots : 0),
        force_(read ? solver.constraints.rows() + solver.contacts.rows + 1 : 0),
        slot_(solver.limbs.slots),
        numbers_(solver.limbs.slot_numbers),
        first_(chains(solver)),
        order_(solver.limbs.slots),
        first_slot_(solver.nb + 2),
        pair_of_(solver.limbs.slots * lanes<T>),
        slot_of_(blocks(solver) * lanes<T>),
        axis_(6 * solver.nv),
        present_{block_.data(), {}, {}, {}, {}},
        slots_{slot_.data(),    numbers_.data(), first_.data(),
               pair_of_.data(), slot_of_.data(), static_cast<int>(solver.group.size())} {
    using Solver = std::remove_cvref_t<decltype(solver)>;
    auto reference = scratch<T>(3 * (solver.nb + 1));
    if (read) present_.contact = contact_.data(), present_.force = force_.data();
    for (int i = 0; i < chains(solver); i++) first_[i] = -1;
    if (solver.contacts.slots > 0) {
      reference_points<T>(solver, in, reference.data());
      axes_about<T>(solver, in, reference.data(), axis_.data());
    }
    RowsToSlots<T, Solver> rows(solver, axis_.data(), reference.data(), read, slots_);
    find_rows<T>(solver, in, rows, present_);
    rows.make_jacobians();
    slots_.sort(solver.nb, static_cast<int>(solver.limbs.type.size()), order_.data(), first_slot_.data());
  }
  FS_HD const PresentRows<T>& present() const { return present_; }
  FS_HD RowSlots<T>& slots() { return slots_; }
  FS_HD const RowSlots<T>& slots() const { return slots_; }
  FS_HD const int* order() const { return &order_[0]; }
  FS_HD const int* first_slot() const { return &first_slot_[0]; }
  FS_HD auto axis() { return axis_.data(); }

 private:
  FS_HD static int blocks(const auto& solver) { return solver.constraints.size() + solver.contacts.slots + 1; }
  FS_HD static int chains(const auto& solver) {
    return (solver.nb + 1) * static_cast<int>(solver.group.size()) + static_cast<int>(solver.limbs.type.size());
  }
  Scratch<PresentBlock> block_;
  Scratch<PresentContact<T>> contact_;
  Scratch<T> force_;
  Scratch<RowSlot> slot_;
  Scratch<T> numbers_;
  Scratch<int> first_, order_, first_slot_, pair_of_;
  Scratch<unsigned short> slot_of_;
  Scratch<T> axis_;
  PresentRows<T> present_;
  RowSlots<T> slots_;
};

// Return whether rows of a type couple limbs that the robot itself does not.
FS_HD bool couples(const auto& solver, int type) {
  const LimbBlocks own = solver.limbs.blocks();
  const RowType& of = solver.limbs.type[type];
  if (of.segments < 2) return false;
  const int last = of.segment + of.segments - 1, m = solver.limbs.segment[last].limb;
  for (int k = of.segment; k < last; k++) {
    const int n = solver.limbs.segment[k].limb;
    if (n != m && ((own.row_of(m)[n / 64] >> (n % 64)) & 1u) == 0) return true;
  }
  return false;
}

// Add the couplings of limbs by rows to those of the robot itself; return whether there are new ones.
template <class T> FS_HD bool couple_limbs(const auto& solver, const RowSlots<T>& slots, std::uint64_t* row) {
  const LimbBlocks own = solver.limbs.blocks();
  bool coupled = false;
  for (int i = 0; i < own.limbs * own.words; i++) row[i] = own.row[i];
  for (int t = 0; t < static_cast<int>(solver.limbs.type.size()); t++) {
    const RowType& type = solver.limbs.type[t];
    if (slots.first[(solver.nb + 1) * slots.groups + t] < 0 || type.segments < 2) continue;
    // eliminating the last limb couples the others
    const int m = solver.limbs.segment[type.segment + type.segments - 1].limb;
    for (int k = type.segment; k + 1 < type.segment + type.segments; k++) {
      const int n = solver.limbs.segment[k].limb;
      if (n == m) continue;
      const std::uint64_t bit = std::uint64_t{1} << (n % 64);
      coupled = coupled || (own.row_of(m)[n / 64] & bit) == 0;
      row[m * own.words + n / 64] |= bit;
    }
  }
  return coupled;
}

// Numbers of 24 bits that order instances by the slots that they need. From the highest bit, with the bits of each:
//
//   with limbs coupled by contacts  1 (1), the first two types of rows that couple (5, 5), iterations of the last step
//                                   (3), the third type (5), number of contacts with the world (5)
//   else                            0 (1), iterations (3), number of contacts (5), bodies of the first three (5, 5, 5)
template <class T> FS_HD T order_key(const auto& solver, const FoundSlots<T>& found, const T& iterations) {
  constexpr int W = lanes<T>, most = 3, highest = 31;
  const RowSlots<T>& slots = found.slots();
  const int row_types = static_cast<int>(solver.limbs.type.size());
  int contacts[W] = {}, couplings[W] = {}, body[W][most] = {}, type[W][most] = {};
  const auto note = [](unsigned there, int* count, auto& list, int x) {
    for (; there != 0; there &= there - 1) {
      const int l = lowest_bit(there), at = count[l]++;
      if (at < most) list[l][at] = x;
    }
  };
  for (int i = 0; i < slots.count; i++) {
    const RowSlot& s = slots.slot[found.order()[i]];
    if (s.body > 0) note(s.there, contacts, body, 1 + (highest - 1) * s.body / solver.nb);
    else if (solver.limbs.type[s.type].of_contacts && couples(solver, s.type))
      note(s.there, couplings, type, 1 + (highest - 1) * s.type / row_types);
  }
  T key(0.0);
  for (int l = 0; l < W; l++) {
    const bool coupled = couplings[l] > 0;
    int bits = coupled ? 1 : 0;
    const auto add = [&](int x, int width) {
      const int greatest = (1 << width) - 1;
      bits = bits << width | (x < greatest ? x : greatest);
    };
    if (coupled) add(type[l][0], 5), add(type[l][1], 5);
    add(static_cast<int>(lane(iterations, l)), 3);
    if (coupled) add(type[l][2], 5);
    add(contacts[l], 5);
    for (int k = 0; k < most && !coupled; k++) add(body[l][k], 5);
    set_lane(key, l, bits);
  }
  return key;
}

// Store the forces of blocks of rows at the solution.
template <class T>
FS_HD void store_slot_forces(const auto& solver, const LimbProblem<T>& p, FoundSlots<T>& found, const auto& out) {
  const PresentRows<T>& present = found.present();
  const RowSlots<T>& slots = found.slots();
  const bool contacts = solver.forces || present.contact != nullptr;
  if (contacts && p.first_slot[p.nb + 1] > 0) move_bodies(p, p.a);
  for (int i = 0; i < (contacts ? present.count : present.constraints); i++) {
    const PresentBlock& c = present.block[i];
    if (c.contact && solver.limbs.body_of[c.source] == 0 && solver.limbs.type_of[1][c.source] < 0) continue;
    for (unsigned left = c.instances; left != 0;) {
      const int at = slots.slot_of[i * lanes<T> + lowest_bit(left)];
      unsigned here = 0;
      for (unsigned l = left; l != 0; l &= l - 1)
        if (slots.slot_of[i * lanes<T> + lowest_bit(l)] == at) here |= l & -l;
      left &= ~here;
      const RowSlot& s = slots.slot[at];
      with_rows_of(s.kind, s.rows, [&](auto kind, auto rows) {
        T f[rows];
        forces_of_slot<kind, rows, T>(p, s, f);
        store_forces<T>(solver, present, c, rows, where<T>(here), f, out);
      });
    }
  }
}

template <class T>
FS_HD void solve_limbs(const auto& solver, FoundSlots<T>& found, unsigned instances, const auto& in, const auto& out) {
  const int nv = solver.nv;
  const LimbBlocks own = solver.limbs.blocks();
  RowSlots<T>& slots = found.slots();
  // use the blocks of the robot, or those with the couplings by rows
  LimbBlocks blocks = own;
  const int sets = own.limbs * own.words;
  auto row = scratch<std::uint64_t>(sets), column = scratch<std::uint64_t>(sets);
  auto place = scratch<int>(lower_half(own.limbs, 0));
  if (couple_limbs(solver, slots, row.data())) {
    blocks.row = row.data(), blocks.column = column.data(), blocks.place = place.data();
    blocks.numbers = eliminate_limbs(own.limbs, own.words, own.limb, row.data(), place.data(), column.data());
  }
  auto mass = scratch<T>(own.numbers), H = scratch<T>(blocks.numbers), R = scratch<T>(blocks.numbers);
  auto a0 = scratch<T>(nv), a = scratch<T>(nv), g = scratch<T>(nv), step = scratch<T>(nv);
  const bool moves = solver.contacts.slots > 0;
  auto acceleration = scratch<T>(moves ? 6 * (solver.nb + 1) : 0);
  auto carried = scratch<T>(moves ? body_numbers * own.limbs : 0);
  const auto axis = found.axis();
  const auto theirs = where<T>(instances);
  for (int k = 0; k < nv; k++) a0[k] = in.qacc_smooth[k], a[k] = select(theirs, T(in.qacc[k]), a0[k]);
  mass_in_blocks<T>(solver, in, axis, mass.data());
  to_body_accelerations<T>(solver, axis, a0.data());
  to_body_accelerations<T>(solver, axis, a.data());
  const LimbProblem<T> problem{own,
                               blocks,
                               solver.limbs.parent.data(),
                               solver.limbs.first_dof.data(),
                               solver.limbs.type.data(),
                               solver.limbs.segment.data(),
                               solver.nb,
                               nv,
                               mass.data(),
                               H.data(),
                               R.data(),
                               axis,
                               a0.data(),
                               a.data(),
                               g.data(),
                               step.data(),
                               acceleration.data(),
                               carried.data(),
                               slots.slot,
                               slots.numbers,
                               found.order(),
                               found.first_slot(),
                               slots.count};
  const auto counts = newton_passes(problem, instances, {solver.iterations, static_cast<double>(solver.tolerance)});
  for (int i = 0; i < solver.refinements; i++) refine(problem, instances);
  if (solver.report) store_residual(instances, unbalanced(problem, instances), out);
  store_slot_forces(solver, problem, found, out);
  from_body_accelerations<T>(solver, axis, a.data());
  store_results(solver, instances, a.data(), counts, out);
}

}  // namespace featherstorm
