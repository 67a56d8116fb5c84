// A program as instructions of a vector processor, between the traced graph and machine code.
//
// Instructions are in execution order, each with at most three operands and one result. Multiply-adds are fused, and
// elementary functions are expanded. A value is defined once. Values in memory before the first instruction (inputs,
// constants) are used from memory or loaded, as the registers allow (allocate.h).
#pragma once
#include <cstdint>
#include <vector>

#include "core/program/count.h"

namespace featherstorm {

enum class Code : unsigned char {
  Add,         // a + b
  Sub,         // a - b
  Mul,         // a b
  Div,         // a / b
  Min,         // the smaller of a and b
  Max,         // the larger of a and b
  MulAdd,      // a b + c
  MulSub,      // a b - c
  SubMul,      // c - a b
  Sqrt,        // square root of a
  Floor,       // largest integer <= a
  And,         // bits of a and b
  Or,          // bits of a or b
  Xor,         // bits that differ in a and b
  IntegerAdd,  // a + b of integers
  IntegerSub,  // a - b of integers
  ShiftLeft,   // bits of a, shifted left by `number`
  ShiftRight,  // bits of a, shifted right by `number`
  Less,        // a < b: a mask, all bits of the lane
  LessEqual,   // a <= b: a mask
  Select,      // b where the sign bit of a is set, else c
  Store        // a to component `number` of output `array`
};
int arity(Code code);

struct Instruction {
  Code code;
  int result;      // value, -1 for Store
  int operand[3];  // values
  int array = 0, number = 0;
};

struct Value {
  enum class Kind : unsigned char { Computed, Input, Constant } kind = Kind::Computed;
  int array = 0, component = 0;  // Input
  std::uint64_t bits = 0;        // Constant: bits of one lane
};

struct StraightLine {
  std::vector<Value> values;
  std::vector<Instruction> instructions;
};

// The program with its statements in this order (order.h), and multiply-adds as in `fusion`.
StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision,
                           const Fusion& fusion);
inline StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision) {
  return straight_line(p, order, double_precision, fuse(p));
}

}  // namespace featherstorm
