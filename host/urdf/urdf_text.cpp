#include "host/urdf/urdf_text.h"

#include <charconv>
#include <cmath>

#include "host/system/error.h"

namespace featherstorm::urdf {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Bytes of the UTF-8 sequence at the start of `text`; 0 if it is malformed.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xc2 && first < 0xe0   ? 2
                        : (first & 0xf0) == 0xe0        ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (n == 0 || text.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // overlong forms, surrogates and code points beyond U+10FFFF
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return n;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

void fail(std::string_view name, int line, const std::string& reason) {
  throw Error(std::string(name) + (line > 0 ? ":" + std::to_string(line) : "") + ": " + reason);
}

std::string printable(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (out.size() + n > longest) return out + "...";
    if (n == 0 || is_control(text[0])) out += '?';
    else out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string quote(std::string_view text) { return std::string("'").append(printable(text)).append("'"); }

bool is_clean_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0 || is_control(text[0])) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string parse_numbers(std::string_view text, int count, double* out, double largest) {
  const std::string_view all = text;
  int found = 0;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kSpace));
    text.remove_prefix(word.size());
    double value = 0;
    const std::string_view digits = word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (word.find("${") != word.npos || word.find("$(") != word.npos)
      return quote(word) + " is a xacro expression; run xacro on the file first";
    if (status == std::errc::result_out_of_range && std::isinf(largest))  // 1e999, or 1e-999
      value = word.find("e-") != word.npos || word.find("E-") != word.npos ? 0 : word[0] == '-' ? -largest : largest;
    else if (status == std::errc::invalid_argument || end != digits.data() + digits.size())
      return quote(word) + " is not a number";
    else if (status != std::errc() || std::isnan(value) || !(std::abs(value) <= largest))
      return quote(word) + " is not a finite number of sensible size";
    if (found < count) out[found] = value;
    ++found;
  }
  if (found == count) return "";
  return quote(all) + " holds " + std::to_string(found) + (found == 1 ? " number" : " numbers") + ", expected " +
         std::to_string(count);
}

}  // namespace featherstorm::urdf
