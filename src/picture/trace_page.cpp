// The page of kernels, which `explain` and `kernel` write: trace.html with the report as JSON inside. An instruction is two numbers, its
// line or address and the place of the rest, which equal ones share: 5,000 kernels are a few megabytes.
#include "picture/page_with.hpp"
#include "picture/picture.hpp"

#include "page.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

/// Values that are written once. A reference is a list of one number, the place in `all`; null, numbers and truths stand for themselves.
class Store {
 public:
  Json reference_to(Json const& value) {
    if (!value.is_structured() && !value.is_string()) return value;
    auto const [at, fresh] = places_.try_emplace(value.dump(), all.size());
    if (fresh) all.push_back(value);
    return Json::array({at->second});
  }

  Json all = Json::array();

 private:
  std::unordered_map<std::string, std::size_t> places_{};
};

/// The values of an instruction but its pc, in the order of `keys`, which new keys are added to.
Json values_of(Json& line, std::vector<std::string>& keys, Store& store) {
  line.erase("pc");
  if (line["worst"].is_object()) line["worst"].erase("address");  // its picture has them
  Json values = Json::array();
  for (auto const& [key, value] : line.items()) {
    auto const at = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (at == keys.size()) keys.push_back(key);
    while (values.size() <= at) values.push_back(nullptr);
    values[at] = store.reference_to(value);
  }
  return values;
}

}  // namespace

std::string trace_page(Json report) {
  Store store;
  std::vector<std::string> keys;
  for (Json& kernel : report["kernels"]) {
    for (Json& line : kernel["lines"]) {
      Json const pc = line["pc"];
      line = {pc, store.reference_to(values_of(line, keys, store))[0]};
    }
    for (char const* const key : {"fixes", "listing"})
      for (Json& value : kernel[key]) value = store.reference_to(value);
  }
  report["keys"] = keys;
  report["stored"] = std::move(store.all);
  return page_with(trace_page_text, report);
}

}  // namespace swizproof
