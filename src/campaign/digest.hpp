// The digest at the end of a trace or a record: it detects a modified file. It is no signature.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swizproof::trace {

/// Text between the digested bytes and the digest: `..., "digest": "cbf29ce484222325"}`.
inline constexpr std::string_view before_digest = ", \"digest\": \"";

/// FNV-1a of 64 bits, taken over a text piece by piece. Of no text it is cbf29ce484222325, of "a" af63dc4c8601ec8c. [Fowler, Noll,
/// Vo; draft-eastlake-fnv] Checked by Trace.WhatWasChangedIsToldByItsDigest and EvidenceOfAll.AnyChangedByteIsToldByTheDigest.
class Digest {
 public:
  void add(std::string_view text) {
    for (char const c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  /// 16 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::string out(16, '0');
    for (unsigned i = 0; i < out.size(); ++i) out[i] = "0123456789abcdef"[value_ >> (60 - 4 * i) & 15];
    return out;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// A JSON object with the digest of its text as its last member.
[[nodiscard]] inline std::string with_digest(std::string text) {
  text.resize(text.rfind('}'));
  Digest digest;
  digest.add(text);
  return text.append(before_digest).append(digest.text()).append("\"}\n");
}

}  // namespace swizproof::trace
