// A program in the terms of a vector processor: what lies between the traced graph and machine code.
//
// Instructions in the order they will run, each with at most three operands and one result; multiply-adds are fused,
// elementary functions are written out. A value is defined once. Values that lie in memory before the first instruction
// (inputs, constants) are used from there or loaded, as the registers allow (allocate.h).
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
  ShiftLeft,   // bits of a, `number` places to the left
  ShiftRight,  // bits of a, `number` places to the right
  Less,        // a < b: a mask, all bits of a lane
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
  std::uint64_t bits = 0;        // Constant: of one lane
};

struct StraightLine {
  std::vector<Value> values;
  std::vector<Instruction> instructions;
};

// The program whose statements stand in this order (order.h), with multiply-adds as `fusion` says.
StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision,
                           const Fusion& fusion);
inline StraightLine straight_line(const Program& p, const std::vector<int>& order, bool double_precision) {
  return straight_line(p, order, double_precision, fuse(p));
}

}  // namespace featherstorm
