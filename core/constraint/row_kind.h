// What the rows of constraints are to a solver.
#pragma once

namespace featherstorm {

// Unilateral: limits, contacts without friction, edges of pyramids. Cone: of the rows of one contact together.
enum class RowKind : unsigned char { Equality, Friction, Unilateral, Cone };

}  // namespace featherstorm
