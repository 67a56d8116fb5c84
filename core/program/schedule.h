#pragma once
// Common parts of the orders: users of values, and the state of a list scheduler.
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// The users of each node among the live operations.
struct Users {
  std::vector<int> first;  // node -> its first user in `list`; first[i + 1] ends them
  std::vector<int> list;   // operations, each once per operand
};

Users find_users(const Program& p, const std::vector<char>& live);

// The state of a list scheduler: operations that can go next, and the effect of each on the number of live values.
class Schedule {
 public:
  explicit Schedule(const Program& p);

  // Operations whose operands are computed, in trace order, before anything is placed.
  std::vector<int> ready() const;

  // Values that end minus values that begin if this operation goes next.
  int gain(int i) const;

  // Places an operation; appends to `freed` those that became ready, to `changed` those whose gain may have risen.
  void place(int i, std::vector<int>& freed, std::vector<int>& changed);

  // True if its operands are computed.
  bool can_go(int i) const { return missing_[i] == 0; }
  bool placed(int i) const { return placed_[i]; }
  bool is_operation(int i) const;
  int operations() const { return operations_; }  // number of live operations
  int live() const { return held_; }              // values held now
  const Users& users() const { return users_; }

 private:
  void tell_users(int node, std::vector<int>& changed) const;

  const Program& p_;
  std::vector<char> live_;
  Users users_;
  std::vector<int> uses_;     // node -> users not placed yet
  std::vector<int> missing_;  // operation -> operands not computed yet
  std::vector<char> placed_;  // node -> computed, or loaded
  int operations_ = 0, held_ = 0;
};

// Completes an order of operations: inputs just before their first user, carried inputs first.
std::vector<int> insert_inputs(const Program& p, const std::vector<int>& operations);

}  // namespace featherstorm
