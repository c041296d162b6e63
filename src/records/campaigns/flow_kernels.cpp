#include "records/campaigns/flow_kernels.hpp"

#include <utility>
#include <vector>

namespace swizproof {

namespace {

std::vector<std::string> texts_of(Json const& list) {
  if (!list.is_array()) malformed("a list of texts is none");
  std::vector<std::string> out;
  for (Json const& one : list) out.push_back(one.get<std::string>());
  return out;
}

}  // namespace

std::map<std::string, RecordedKernel> kernels_of(Json const& all) {
  std::map<std::string, RecordedKernel> out;
  if (!all.is_object()) malformed("'kernels' is no object");
  for (auto const& [name, one] : all.items()) {
    Members members(one, "the kernel " + name);
    FlowQuestion q;
    q.block = members.text("block"), q.grid = members.text("grid");
    q.params = texts_of(members.at("params")), q.expect = texts_of(members.at("expect"));
    if (members.find("shared_bytes") != nullptr) q.shared_bytes = members.count("shared_bytes");
    if (q.shared_bytes > 1 << 20) malformed("a launch has more than 1 MiB of shared memory");
    out[name] = {members.text("ptx"), std::move(q)};
    members.finish();
  }
  return out;
}

}  // namespace swizproof
