#include "parse/fragment/mma_kind.hpp"

#include <swizproof/parse/parse.hpp>

#include <algorithm>

namespace swizproof {

namespace {

/// Takes the word that begins with `start`; nothing if no word does. Throws InputError for a second.
std::optional<std::string> take_word_of(std::vector<std::string>& words, std::string_view start,
                                        std::string const& text) {
  auto const begins = [&](std::string const& word) { return word.starts_with(start); };
  auto const at = std::find_if(words.begin(), words.end(), begins);
  if (at == words.end()) return std::nullopt;
  std::string rest = at->substr(start.size());
  words.erase(at);
  if (std::any_of(words.begin(), words.end(), begins))
    throw InputError::whole("." + std::string(start) + " is given twice", text);
  return rest;
}

/// The scales that a kind has, in words.
std::string scales_in_words(MmaKind const& kind) {
  std::string out;
  for (std::string_view rest = kind.scales; !rest.empty();) {
    std::size_t const end = std::min(rest.find(' '), rest.size());
    std::string_view const one = rest.substr(0, end);
    out += (out.empty() ? "" : ", ") + (".scale_vec::" + std::string(one.substr(0, 2))) + " of " +
           std::string(one.substr(3));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

/// True if the kind has scales of that size, and of that type where one is given.
bool has_scales(MmaKind const& kind, unsigned vectors, std::string const& type) {
  std::string const wanted = " " + std::to_string(vectors) + "X:" + type;
  return (" " + std::string(kind.scales) + " ").find(type.empty() ? wanted : wanted + " ") !=
         std::string::npos;
}

}  // namespace

std::string KindWords::text() const {
  std::string out = "kind::" + std::string(kind->name);
  if (vectors != 0) out += ".block_scale.scale_vec::" + std::to_string(vectors) + "X";
  return out;
}

std::optional<KindWords> take_kind(std::vector<std::string>& words, std::string const& text) {
  std::optional<std::string> const name = take_word_of(words, "kind::", text);
  bool const scaled = take_word_of(words, "block_scale", text).has_value();
  std::optional<std::string> const size = take_word_of(words, "scale_vec::", text);
  KindWords found;
  for (char const* type : {"ue8m0", "ue4m3"})
    if (!words.empty() && words.back() == type) {
      found.scale_type = type;
      words.pop_back();
      break;
    }
  if (!name) {
    if (scaled || size || !found.scale_type.empty())
      throw InputError::whole("scales are those of a kind, and no .kind is given", text,
                              "such as mma.m16n8k64.kind::mxf4nvf4.scale_vec::4X.e2m1:sfa");
    return std::nullopt;
  }
  found.kind = mma_kind(*name);
  if (found.kind == nullptr)
    throw InputError::whole("unknown kind of mma: " + *name, text,
                            "f8f6f4, mxf8f6f4, mxf4 and mxf4nvf4 have registers; tcgen05.mma has none");
  MmaKind const& kind = *found.kind;
  if (kind.scales.empty()) {
    if (scaled || size || !found.scale_type.empty())
      throw InputError::whole("kind::" + *name + " has no scales", text, "kind::mxf8f6f4 has");
    return found;
  }
  if (size && *size != "1X" && *size != "2X" && *size != "4X")
    throw InputError::whole(".scale_vec is 1X, 2X or 4X", text);
  found.vectors = size ? static_cast<unsigned>((*size)[0] - '0') : kind.implied;
  if (found.vectors == 0)
    throw InputError::whole("kind::" + *name + " needs .scale_vec", text, "it has " + scales_in_words(kind));
  if (!has_scales(kind, found.vectors, found.scale_type))
    throw InputError::whole("kind::" + *name + " has no scales of ." +
                                "scale_vec::" + std::to_string(found.vectors) + "X" +
                                (found.scale_type.empty() ? "" : " of type " + found.scale_type),
                            text, "it has " + scales_in_words(kind));
  return found;
}

}  // namespace swizproof
