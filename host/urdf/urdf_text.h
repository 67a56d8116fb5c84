// Reads numbers and names from unchecked XML text.
#pragma once

#include <string>
#include <string_view>

namespace featherstorm::urdf {

// Throws Error "name:line: reason"; line 0 is omitted.
[[noreturn]] void fail(std::string_view name, int line, const std::string& reason);

// `text` for a message: shortened to `longest` bytes, control characters and broken UTF-8 replaced by '?'. quote()
// adds quotes.
std::string printable(std::string_view text, std::size_t longest = 80);
std::string quote(std::string_view text);

// True if `text` is well-formed UTF-8 without control characters.
bool is_clean_utf8(std::string_view text);

constexpr double kLargest = 1e12;  // far above every length, mass or inertia of a robot in SI units

// Parses exactly `count` numbers separated by white space, in any locale. Returns an empty string, or the error. Text
// that is no number and numbers beyond +-largest are errors.
std::string parse_numbers(std::string_view text, int count, double* out, double largest = kLargest);

}  // namespace featherstorm::urdf
