// The message of what a call throws.
#pragma once
#include <exception>
#include <string>

namespace featherstorm::testing {

inline std::string message(const auto& f) {
  try {
    f();
  } catch (const std::exception& e) { return e.what(); }
  return "no error";
}

}  // namespace featherstorm::testing
