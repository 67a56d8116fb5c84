#pragma once

#include <stdexcept>

namespace featherstorm {

// What a user's input or machine got wrong, in words that name the argument, what came and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace featherstorm
