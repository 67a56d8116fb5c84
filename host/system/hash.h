#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace featherstorm {

// 128-bit FNV-1a hash: names cache entries and detects damage. It does not resist an attacker; file ownership does
// (cache.h).
//   h <- (h xor byte) * (2^88 + 0x13b)
// Source: Fowler, Noll, Vo; constants of draft-eastlake-fnv. One step is a bijection of h, so any single changed byte
// changes the result. Cost: about 4 cycles per byte.
class Hash {
 public:
  // Appends bytes as they are.
  Hash& add(std::string_view bytes);

  // Appends a field with its length in front, so that ("ab", "c") and ("a", "bc") differ.
  Hash& add_field(std::string_view field);

  // 32 lower-case hexadecimal digits.
  std::string hex() const;

 private:
  __extension__ using Word = unsigned __int128;
  Word h_ = (static_cast<Word>(0x6c62272e07bb0142u) << 64) | 0x62b821756295c58du;
};

}  // namespace featherstorm
