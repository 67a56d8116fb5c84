// A robot as bytes, for other processes on similar machines. The bytes contain the exact numbers, so results are
// identical bit for bit.
#pragma once
#include <string>
#include <string_view>

#include "core/model/builder.h"

namespace featherstorm {

// Throws Error for a robot with user-defined joints, because these are functions of this process.
std::string robot_bytes(const Robot& robot);
// The robot of these bytes. Throws Error for bytes of another version of featherstorm, truncated bytes, or numbers out
// of range.
Robot robot_of_bytes(std::string_view bytes);

}  // namespace featherstorm
