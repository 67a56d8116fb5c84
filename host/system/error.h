#pragma once

#include <stdexcept>

namespace featherstorm {

// An error of the user's input or machine. The message names the argument, the value received and the value expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace featherstorm
