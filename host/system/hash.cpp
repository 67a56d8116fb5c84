#include "host/system/hash.h"

namespace featherstorm {

Hash& Hash::add(std::string_view bytes) {
  constexpr Word prime = (static_cast<Word>(1) << 88) + 0x13b;
  Word h = h_;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * prime;
  h_ = h;
  return *this;
}

Hash& Hash::add_field(std::string_view field) { return add(std::to_string(field.size())).add(":").add(field); }

std::string Hash::hex() const {
  std::string digits(32, '0');
  for (int i = 0; i < 32; ++i) digits[31 - i] = "0123456789abcdef"[static_cast<unsigned>(h_ >> (4 * i)) & 15u];
  return digits;
}

}  // namespace featherstorm
