// A robot as bytes, for other processes on machines like this one: the numbers themselves, so that results there are bit for bit
// those here.
#pragma once
#include <string>
#include <string_view>

#include "core/model/builder.h"

namespace featherstorm {

// Throws Error for a robot with user-defined joints, which are functions of this process.
std::string robot_bytes(const Robot& robot);
// The robot again. Throws Error for bytes of another version of featherstorm, cut off, or with numbers out of range.
Robot robot_of_bytes(std::string_view bytes);

}  // namespace featherstorm
