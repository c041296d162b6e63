#include <swizproof/execution/warp.hpp>

#include "execution/warp/evaluation.hpp"

namespace swizproof::execution {

std::optional<std::array<std::uint32_t, 3>> Warp::lanes_of(Launch const& launch) {
  return Threads::lanes_of(launch);
}

Warp::Warp(Program const& program, Flow const& flow, Execution& execution, Launch const& launch,
           unsigned number, Warp* clean)
    : evaluation_(std::make_unique<Evaluation>(program, flow, execution, launch, number,
                                               clean != nullptr ? clean->evaluation_.get() : nullptr,
                                               clean != nullptr ? clean->evaluation_->block : nullptr)) {}
Warp::Warp(Warp const& first, unsigned number)
    : evaluation_(std::make_unique<Evaluation>(first.evaluation_->program, first.evaluation_->flow,
                                               first.evaluation_->execution, first.evaluation_->launch,
                                               number, nullptr, first.evaluation_->block)) {}
Warp::~Warp() = default;

Lanes const& Warp::value(std::uint32_t node, unsigned bits) { return evaluation_->words.value(node, bits); }
LaneTruths Warp::truth(std::uint32_t node) { return evaluation_->truths.value(node); }
Facts Warp::facts(std::uint32_t node) { return evaluation_->facts.of(node); }
std::uint32_t Warp::in_lanes(std::uint32_t node, std::uint32_t lanes) {
  return evaluation_->leaves.in_lanes(node, lanes);
}
unsigned Warp::trailing_zeros(std::uint32_t node) { return evaluation_->facts.trailing_zeros(node); }
bool Warp::exits_together(std::int32_t loop) { return evaluation_->loops.exits_together(loop); }
bool Warp::goes_back_together(std::int32_t loop) { return evaluation_->loops.goes_back_together(loop); }
void Warp::assume(std::vector<Assumption> const& assumptions) { evaluation_->assume(assumptions); }
void Warp::release() { evaluation_->release(); }
std::size_t Warp::kept() const { return evaluation_->kept(); }
Request const& Warp::request(std::uint32_t why) const { return evaluation_->atoms.request(why); }
std::optional<std::uint64_t> Warp::iterated(std::uint32_t phi, std::uint64_t iteration) {
  return evaluation_->machines.iterated(phi, iteration);
}
std::uint32_t Warp::present() const { return evaluation_->threads.present(); }
std::uint64_t Warp::steps() const { return evaluation_->block->steps; }
std::uint64_t Warp::special(Special s, unsigned lane) const { return evaluation_->threads.special(s, lane); }

std::optional<std::vector<std::uint64_t>> Warp::domain(std::uint32_t id, std::size_t most) {
  if (Phi const* const p = evaluation_->execution.phi_at(id);
      p != nullptr && p->kind == Phi::Kind::orbit && p->values.size() <= most)
    return p->values;
  Facts const f = facts(id);
  if (f.most >= most * 64) return std::nullopt;
  std::vector<std::uint64_t> values;
  for (std::uint64_t v = 0; v <= f.most; ++v)
    if ((v & f.zeros) == 0) values.push_back(v);
  if (values.size() > most) return std::nullopt;
  return values;
}

}  // namespace swizproof::execution
