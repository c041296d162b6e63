#include "claim/operand.hpp"

#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

namespace {

using Values = decltype(Refuted::values);

/// `every multiple of 1024 bytes`, `base mod 1024 = 128, 256`.
std::string words_for(Bases const& bases) {
  if (bases.residues == std::vector<std::uint64_t>{0})
    return fmt::format("every multiple of {} bytes", bases.period);
  return fmt::format("base mod {} = {}", bases.period, fmt::join(bases.residues, ", "));
}

Values values_of(Misread const& wrong, bool of_stages) {
  Values values{{"row", wrong.row}, {"k", wrong.k}};
  if (of_stages) values.emplace_back("stage", wrong.rest);
  values.emplace_back("base", wrong.base);
  values.emplace_back("read from byte", static_cast<std::uint64_t>(wrong.read));
  values.emplace_back("stored at byte", static_cast<std::uint64_t>(wrong.stored));
  return values;
}

Values values_of(TmaWitness const& wrong) {
  Values values;
  for (std::size_t m = 0; m < wrong.at.size(); ++m)
    values.emplace_back(fmt::format("mode {}", m), wrong.at[m]);
  if (wrong.byte != 0) values.emplace_back("byte of the element", wrong.byte);
  if (wrong.tma) values.emplace_back("TMA puts it at byte", static_cast<std::uint64_t>(*wrong.tma));
  values.emplace_back("the layout has it at byte", static_cast<std::uint64_t>(wrong.layout));
  for (std::size_t m = 0; m < wrong.other.size(); ++m)
    values.emplace_back(fmt::format("mode {} of the other", m), wrong.other[m]);
  return values;
}

Values values_of(MovementAnswer const& r) {
  Fragment const& held = r.movement.wanted.fragment;
  NamedFragment const& operand = r.operand();
  if (r.found.misaligned)
    return {{"lane", r.found.misaligned->thread},
            {"instruction", r.found.misaligned->instruction},
            {"its row starts at byte", r.found.misaligned->start * held.bits / 8}};
  if (!r.found.first) return {};
  WrongValue const& wrong = *r.found.first;
  std::string const got = r.into.memory ? "goes to " : "holds ", wanted = r.into.memory ? "is " : "wanted ";
  return {{held.threads == warp_lanes ? "lane" : "thread", wrong.thread},
          {"register", wrong.value * held.bits / held.register_bits()},
          {"bit", wrong.value * held.bits % held.register_bits()},
          {got + std::string(operand.row_index()), wrong.got.row},
          {got + std::string(operand.column_index()), wrong.got.column},
          {wanted + std::string(operand.row_index()), wrong.wanted.row},
          {wanted + std::string(operand.column_index()), wrong.wanted.column}};
}

/// The values of a refutation, and why.
void refute(ObligationReport& report, std::string const& why, Values values) {
  report.found = Refuted{why, std::move(values)};
}

}  // namespace

void decide_operand(DescriptorHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report) {
  DescriptorQuestion question = hold.question;
  question.reader = reader_on(o.arch_is_given ? o.arch : nullptr, hold.reader).value_or(hold.of_layout);
  DescriptorAnswer const found = descriptors_of(hold.map, question, limits);
  report.found = found.outcome;
  report.engines = found.engines;
  report.domain = found.domain;
  report.basis = support_of(question.reader);
  std::string_view const operand = found.instructions.operand == Operand::a ? "A" : "B";
  if (std::holds_alternative<Refuted>(found.outcome)) {
    report.detail =
        fmt::format("{} it as {} of {}: {}",
                    question.fixed.any() ? "the hard-coded descriptor does not read" : "no descriptor reads",
                    operand, name(question.reader), fmt::join(found.reasons, "; "));
    refute(report, report.detail,
           found.misread ? values_of(*found.misread, found.instructions.rest > 1) : Values{});
  } else if (std::holds_alternative<Proved>(found.outcome)) {
    TileDescriptor const& best = found.solutions.front();
    report.detail = fmt::format(
        "{} reads it as {}, {}-major, mode {}, {:#018x}, from {}", name(question.reader), operand,
        best.major == Major::k ? "K" : "MN", best.fields.operand_mode().name, number_of(best),
        question.align ? fmt::format("every multiple of {} bytes", *question.align) : words_for(best.bases));
  }
}

void decide_operand(TmaHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report) {
  report.basis = tma_basis(hold.map, *o.arch);
  TmaModes const all = tma_modes_of(*o.arch);
  if (hold.mode && std::find(all.begin(), all.end(), *hold.mode) == all.end())
    throw InputError::whole(fmt::format("{} does not load with mode {}", o.arch->name, name(*hold.mode)),
                            std::string(name(*hold.mode)));
  TmaQuestion question{all, hold.box, hold.align};
  if (hold.mode) question.modes = std::span(&*hold.mode, 1);
  TmaCopies const found = tma_copies(hold.map, question, limits);
  report.found = found.outcome;
  report.engines = {Engine::exhaustive};
  report.domain = "every byte of the tile";
  if (std::holds_alternative<Refuted>(found.outcome)) {
    report.detail =
        (hold.box ? "the hard-coded box does not write it: " : "no boxes write it: ") + found.reason;
    refute(report, report.detail, found.witness ? values_of(*found.witness) : Values{});
  } else if (std::holds_alternative<Proved>(found.outcome)) {
    TmaPlan const& plan = found.plans.front();
    report.engines = plan.engines;
    report.detail = fmt::format("mode {}, {} of ({}), from {}", name(plan.mode),
                                plan.boxes == 1 ? "one box" : fmt::format("{} boxes", plan.boxes),
                                fmt::join(plan.box, ","),
                                hold.align ? fmt::format("every multiple of {} bytes", *hold.align)
                                : plan.destination_alignment != 0
                                    ? fmt::format("every multiple of {} bytes", plan.destination_alignment)
                                    : words_for(Bases{plan.period, plan.also}));
  }
}

void decide_operand(FragmentHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report) {
  if (o.arch_is_given)
    for (NamedFragment const* f : {&hold.question.from, &hold.question.into})
      refuse_older(*o.arch, f->instruction, f->needs);
  MovementAnswer const r = decide_movement(hold.question, limits);
  report.found = r.outcome();
  report.engines = r.found.answer.engines;
  report.domain = r.found.domain;
  report.basis = movement_support;
  bool const stores = r.into.memory.has_value();
  std::string const by = r.instruction.empty() ? "" : r.instruction + ": ";
  if (std::holds_alternative<Refuted>(r.outcome())) {
    report.detail = by + (r.found.misaligned ? "a row does not start at a multiple of 16 bytes"
                          : stores           ? "elements are stored in others' places"
                                             : "the operand's registers hold other elements");
    refute(report, report.detail, values_of(r));
  } else if (std::holds_alternative<Proved>(r.outcome())) {
    report.detail =
        by + (stores ? "every element is stored in its place" : "every register holds the right elements");
  }
}

void decide_operand(RetileHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report) {
  RetileQuestion const& r = hold.question;
  if (o.arch_is_given && !r.operand.needs.empty())
    refuse_older(*o.arch, r.operand.instruction, r.operand.needs);
  TileDelivery const found = deliver(r.movement, limits);
  report.found = found.answer.outcome;
  report.engines = found.answer.engines;
  report.domain = fmt::format("{} threads, {} values each", r.threads(), r.values());
  report.basis = r.operand.instruction.empty() ? Support::assumed : movement_support;
  if (std::holds_alternative<Proved>(report.found)) {
    report.detail = r.loads ? "every register gets the element that the operand has there"
                            : "every register goes to the place of its element";
  } else if (found.first) {
    WrongRegister const& wrong = *found.first;
    auto const at = r.fragment_at(wrong.reg);
    auto const [i, j] = r.coordinate(wrong.moved);
    auto const [wanted_i, wanted_j] = r.coordinate(wrong.held);
    std::string const got = r.loads ? "gets " : "goes to ", wanted = r.loads ? "wanted " : "is ";
    report.detail = r.loads ? "registers get other elements than the operand has there"
                            : "registers go to the places of other elements";
    refute(report, report.detail,
           {{"thread", wrong.thread},
            {"value of the copy", wrong.value},
            {"V of its fragment(V,I,J)", at[0]},
            {"I of it", at[1]},
            {"J of it", at[2]},
            {got + r.index(0), i},
            {got + r.index(1), j},
            {wanted + r.index(0), wanted_i},
            {wanted + r.index(1), wanted_j}});
  }
}

void decide_operand(ThreadValuesHold const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report) {
  NamedFragment const& named = hold.named;
  if (o.arch_is_given) refuse_older(*o.arch, named.instruction, named.needs);
  Answer const found = decide(is_thread_values("PTX's formulas are the layout", named.fragment, hold.layout),
                              limits, Effort::two);
  report.found = found.outcome;
  report.engines = found.engines;
  report.domain =
      fmt::format("{} threads, {} values each", named.fragment.threads, counted_values(named.fragment));
  report.basis = named.measured ? o.arch->support : Support::documented;
  if (found.proved()) report.detail = "it is the layout of " + named.name();
  if (Refuted const* const refuted = found.refuted()) {
    OtherNumber const other = other_number(named.fragment, hold.layout, *refuted);
    report.detail = fmt::format("it is not the layout of {}, which is {}", named.name(),
                                to_string(thread_values(named.fragment)));
    refute(report, report.detail,
           {{"thread", other.thread},
            {"value", other.value},
            {"the layout has", other.layout},
            {"the instruction has", other.instruction}});
  }
}

void decide_operand(TmaBoxHolds const& hold, Obligation const& o, ObligationReport& report) {
  report.basis = tma_box_basis(*o.arch);
  report.domain = "the rules of cuda.h";
  std::string broken;
  for (TmaBoxQuestion const& q : hold.types) {
    TmaBoxAnswer const found = tma_box(q, *o.arch);
    std::string const box =
        fmt::format("{} box ({}) of {}", q.im2col ? "im2col" : "tiled", fmt::join(q.box, ","), q.type);
    if (found.broken.empty()) {
      report.found = Proved{};
      report.detail = fmt::format(
          "{} is legal under mode {}: lines of {} bytes at a pitch of {}, {} bytes of shared memory", box,
          q.mode->name, found.line_bytes, found.pitch, found.bytes);
      return;
    }
    broken += fmt::format("{}{} is not legal under mode {}: {}", broken.empty() ? "" : "; ", box,
                          q.mode->name, fmt::join(found.broken, "; "));
  }
  report.detail = broken;
  refute(report, broken, {});
}

void decide_conversion(ConversionHolds const& hold, Limits const& limits, ObligationReport& report) {
  Conversion const found = convert_units(hold.map, hold.unit_bits, limits);
  report.domain = "every unit that the tile covers";
  report.engines = {Engine::exhaustive};
  report.detail = fmt::format("in units of {} {}: {}", found.unit_bits, found.unit_bits == 1 ? "bit" : "bits",
                              found.converted.text);
  report.found = Proved{};
  if (!found.same) {
    report.detail += "; " + found.converted.notes.front();
    return refute(report, report.detail, {});
  }
  if (!hold.gives) return;
  // A swizzle alone acts on units here, as the one that is hard-coded does.
  Map converted = found.converted;
  if (plain_swizzle(converted) != nullptr && converted.acts_on_bytes())
    converted.on_elements.swap(converted.on_bytes);
  Equality const equal = compare(converted, *hold.gives, {}, limits);
  report.found = equal.outcome;
  report.engines = equal.engines;
  report.domain = equal.domain;
  auto const* const refuted = std::get_if<Refuted>(&equal.outcome);
  if (refuted == nullptr) return;
  report.detail += ", and not " + hold.gives->text;
  if (equal.difference)
    report.detail += fmt::format(": at {} {} and {} {}", equal.difference->input, equal.difference->left,
                                 equal.difference->right, equal.unit);
  refute(report, report.detail, refuted->values);
}

}  // namespace swizproof
