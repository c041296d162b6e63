// Machine code of small kernels of integers (gpu/sass_record): is each word that the device stored the one that the meanings of its
// instructions (sass/forms.hpp) give?
//
// A meaning counts as measured if it lies on the way to a compared word: a kernel whose words change when every result of the
// instruction, and nothing else, is changed.
#include "records/campaigns/recomputation.hpp"

#include "sass/forms.hpp"

#include <swizproof/core/splitmix.hpp>
#include <swizproof/program/step.hpp>
#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace swizproof {

namespace {

using program::Action;

constexpr unsigned most_threads = 1024;
constexpr std::uint64_t most_values = 1 << 26, most_instructions = 4096;
constexpr unsigned parameters = 8, first_parameter = 1 << 30;
constexpr std::uint64_t input = std::uint64_t{1} << 40,
                        output = std::uint64_t{1} << 44;  ///< addresses of the arrays, chosen freely
constexpr std::uint64_t bank_of_parameters = 0x210;
constexpr std::uint64_t shared_bytes = 1 << 16;

/// Word `index` of a kernel's inputs: an edge, a number below 64, or any. The same as in gpu/sass_record.
std::uint32_t drawn(std::uint64_t seed, std::uint64_t kernel, std::uint64_t index) {
  static constexpr std::array<std::uint32_t, 32> edges{
      0,          1,          2,          3,          7,          8,          15,         16,
      30,         31,         32,         33,         63,         64,         65,         0x7F,
      0x80,       0xFF,       0x100,      0x7FFF,     0x8000,     0xFFFF,     0x10000,    0x55555555,
      0xAAAAAAAA, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFE0, 0xFFFFFFFE, 0xFFFFFFFF};
  std::uint64_t const x = splitmix64(index | seed << 48 | kernel << 32);
  if ((x & 3) < 2) return edges[x >> 2 & 31];
  return static_cast<std::uint32_t>((x & 3) == 2 ? x >> 32 & 63 : x >> 32);
}

/// A row [number, blocks, threads, launches, words of each thread, checksum, code].
struct SassKernel {
  std::uint64_t number = 0, grid = 0, block = 0, launches = 0, words = 0;
  std::string sum{};
  sass::Module module{};
  program::Program program{};
  /// An instruction of the body with its steps.
  struct Part {
    sass::Instruction const* instruction = nullptr;
    std::uint32_t first = 0, last = 0;
  };
  std::vector<Part> parts{};
};

SassKernel kernel_of(std::string const& name, Json const& row) {
  SassKernel k;
  std::uint64_t* const numbers[] = {&k.number, &k.grid, &k.block, &k.launches, &k.words};
  (void)with_members(row, 7);
  for (std::size_t i = 0; i < std::size(numbers); ++i) *numbers[i] = integer<std::uint64_t>(row.at(i));
  k.sum = row.at(5).get<std::string>();
  for (std::uint64_t const n : {k.grid, k.launches, k.words})
    if (n == 0 || n > 1 << 16) malformed("a number of blocks, launches or words is 0 or more than 65536");
  if (k.block == 0 || k.block % 32 != 0 || k.block > most_threads || k.number >= 1 << 15)
    malformed("a block has no multiple of 32 threads up to 1024");
  if (k.grid * k.launches > most_values / k.block / k.words) malformed("a kernel has more than 2^26 words");
  std::string const head = "\t.target\tsm_90a\n\t.section\t.text." + name + "\n";
  k.module = sass::read_module(head + row.at(6).get<std::string>() + "\n", "the record");
  sass::Function const& f = k.module.functions.front();
  if (k.module.functions.size() != 1 || f.body.size() > most_instructions)
    malformed("a kernel is no single piece of code");
  k.program = sass::lower(k.module, f).program;
  if (!k.program.refused.empty() || k.program.blocks.size() != 1 || k.program.blocks[0].taken == 0 ||
      k.program.blocks[0].next == 0)
    malformed("a kernel of campaign 'sass' has a branch");
  std::uint32_t at = 0;
  for (sass::Instruction const& i : f.body) {
    SassKernel::Part part{&i, at, at};
    while (part.last < k.program.steps.size() && k.program.steps[part.last].line == i.line) ++part.last;
    at = part.last;
    k.parts.push_back(part);
  }
  return k;
}

/// Changes of a result that show whether a compared word depends on it.
struct Change {
  std::string_view opcode{};
  bool predicate = false;
};

/// One block, all of whose threads go from instruction to instruction together. A word that the model does not know is marked.
class SassBlock {
 public:
  SassBlock(SassKernel const& kernel, std::uint64_t seed, std::uint64_t launch, std::uint64_t number)
      : k_(kernel),
        seed_(seed),
        launch_(launch),
        number_(number),
        threads_(kernel.block),
        values_(kernel.program.widths.size() * threads_),
        known_(values_.size(), 1),
        shared_(shared_bytes),
        shared_known_(shared_bytes),
        out_(threads_ * kernel.words),
        stored_(out_.size()) {
    for (unsigned p = 0; p < parameters; ++p)
      bank_[4 + p] = drawn(seed, kernel.number, first_parameter + parameters * launch + p);
    bank_[1] = static_cast<std::uint32_t>(input >> 32), bank_[3] = static_cast<std::uint32_t>(output >> 32);
  }

  void run(std::optional<Change> change = std::nullopt) {
    for (SassKernel::Part const& part : k_.parts) {
      sass::Instruction const& i = *part.instruction;
      bool const changed = change && change->opcode == i.opcode;
      for (std::uint32_t s = part.first; s < part.last; ++s) {
        program::Step const& step = k_.program.steps[s];
        execute(step);
        if (changed && step.dst >= 0 && static_cast<std::size_t>(step.dst) < k_.program.registers.size() &&
            (k_.program.widths[static_cast<std::size_t>(step.dst)] == 1) == change->predicate)
          alter(step);
      }
      if (i.opcode.starts_with("STG") || i.opcode.starts_with("STS"))
        store(part, changed && !change->predicate);
    }
  }

  /// Sum over the words, as the record has it.
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (std::size_t w = 0; w < out_.size(); ++w)
      total += splitmix64(splitmix64((number_ * out_.size() + w) | launch_ << 32) ^ out_[w]);
    return total;
  }
  /// Words of the output that no known value was stored to.
  [[nodiscard]] std::uint64_t unknown() const {
    return static_cast<std::uint64_t>(std::count(stored_.begin(), stored_.end(), 0)) + strayed_;
  }
  [[nodiscard]] std::vector<std::uint32_t> const& words() const { return out_; }

 private:
  struct Word {
    std::uint64_t value = 0;
    bool known = true;
  };
  [[nodiscard]] Word get(program::Source const& s, std::size_t t) const {
    if (s.constant) return {s.value, true};
    return {values_[s.value * threads_ + t], known_[s.value * threads_ + t] != 0};
  }
  void set(std::int32_t r, std::size_t t, Word w) {
    auto const at = static_cast<std::size_t>(r);
    unsigned const width = k_.program.widths[at];
    values_[at * threads_ + t] = w.value & low_bits(width);
    known_[at * threads_ + t] = w.known ? 1 : 0;
  }

  void alter(program::Step const& s) {
    bool const guarded =
        s.action == Action::choose && !s.c.constant && s.c.value == static_cast<std::uint64_t>(s.dst);
    for (std::size_t t = 0; t < threads_; ++t) {
      auto const at = static_cast<std::size_t>(s.dst) * threads_ + t;
      if (!guarded || get(s.a, t).value != 0)
        values_[at] ^= k_.program.widths[static_cast<std::size_t>(s.dst)] == 1 ? 1 : 0x9E3779B9;
    }
  }

  void execute(program::Step const& s) {
    if (s.dst < 0) return;
    if (s.action == Action::shuffle) return shuffle(s);
    for (std::size_t t = 0; t < threads_; ++t) set(s.dst, t, result(s, t));
  }

  void shuffle(program::Step const& s) {
    std::vector<Word> all;
    for (std::size_t t = 0; t < threads_; ++t) {
      Word const b = get(s.b, t), c = get(s.c, t);
      unsigned const from =
          program::shuffle_source(static_cast<program::Shuffle>(s.extra), static_cast<unsigned>(t % 32),
                                  static_cast<std::uint32_t>(b.value), static_cast<std::uint32_t>(c.value));
      Word w = get(s.a, t / 32 * 32 + from);
      w.known = w.known && b.known && c.known;
      all.push_back(w);
    }
    for (std::size_t t = 0; t < threads_; ++t) set(s.dst, t, all[t]);
  }

  Word result(program::Step const& s, std::size_t t) {
    Word const a = get(s.a, t), b = get(s.b, t);
    bool const known = a.known && b.known;
    switch (s.action) {
      case Action::choose: {
        Word const chosen = a.value != 0 ? b : get(s.c, t);
        return {chosen.value, a.known && chosen.known};
      }
      case Action::special:
        return special(s.extra, t);
      case Action::symbol:
        return symbol(s.extra);
      case Action::load: {
        Word w = loaded(static_cast<program::Space>(s.extra), a.value + b.value, s.width / 8);
        w.known = w.known && known;
        return w;
      }
      default:
        return program::computes(s.action) ? Word{program::result_of(s, a.value, b.value, 0), known}
                                           : Word{0, false};
    }
  }

  [[nodiscard]] Word special(std::uint32_t which, std::size_t t) const {
    auto const u32 = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
    auto const value = program::special_of(which, {t,
                                                   static_cast<unsigned>(t % 32),
                                                   {u32(threads_), 1, 1},
                                                   {u32(k_.grid), 1, 1},
                                                   {u32(number_), 0, 0}});
    return {value.value_or(0), value.has_value()};
  }

  /// A parameter's offset in the constant bank, from its name such as c[0x0][0x210]; shared memory begins at 0.
  [[nodiscard]] Word symbol(std::uint32_t which) const {
    std::string const& name = k_.program.symbols[which].name;
    std::uint64_t at = 0;
    if (name.starts_with("c[0x0][0x"))
      std::from_chars(name.data() + 9, name.data() + name.size() - 1, at, 16);
    return {at, true};
  }

  [[nodiscard]] Word loaded(program::Space space, std::uint64_t at, unsigned bytes) const {
    if (space == program::Space::shared) {
      Word w;
      at &= 0xffffffff;
      if (at + bytes > shared_bytes) return {0, false};
      for (unsigned k = 0; k < bytes; ++k)
        w.value |= std::uint64_t{shared_[at + k]} << 8 * k, w.known = w.known && shared_known_[at + k] != 0;
      return w;
    }
    std::uint64_t const first = space == program::Space::param ? bank_of_parameters : input;
    std::uint64_t const words = space == program::Space::param ? bank_.size() : 4 * threads_ * k_.grid;
    bool const there = space == program::Space::param || space == program::Space::global;
    std::uint64_t const word = (at - first) / 4, part = at % 4;
    if (!there || at < first || word >= words || part + bytes > 4) return {0, false};
    std::uint64_t const value = space == program::Space::param ? bank_[word] : drawn(seed_, k_.number, word);
    return {value >> 8 * part & low_bits(8 * bytes), true};
  }

  /// STG, to which the model gives no meaning, [R2.64+0x10]; and STS, at the address that it has of it. `moved`: elsewhere.
  void store(SassKernel::Part const& part, bool moved) {
    sass::Instruction const& i = *part.instruction;
    if (i.guard != sass::Operand::Kind::other || i.operands.size() != 2) malformed("a store has a guard");
    sass::Operand const &where = i.operands[0], &what = i.operands[1];
    program::MemoryAccess const* access = nullptr;
    for (std::uint32_t s = part.first; s < part.last; ++s)
      if (k_.program.steps[s].action == Action::access)
        access = &k_.program.accesses[k_.program.steps[s].extra];
    auto const has = [&](std::string_view m) { return i.opcode.find(m) != i.opcode.npos; };
    unsigned const bytes = has(".U8") ? 1 : has(".U16") ? 2 : has(".128") ? 16 : has(".64") ? 8 : 4;
    auto const reg = [&](std::uint32_t r, std::size_t t) { return r < 255 ? get({false, r}, t) : Word{}; };
    for (std::size_t t = 0; t < threads_; ++t) {
      Word at = access != nullptr ? get(access->address, t) : reg(where.reg, t);
      if (access == nullptr) {
        Word const up = reg(where.reg + 1U, t);
        at = {at.value | up.value << 32, at.known && up.known && where.uniform == sass::no_register};
      }
      at.value += (access != nullptr ? access->offset : where.value) + (moved ? 64 : 0);
      for (unsigned k = 0; k < bytes; k += 4) {
        Word const w = reg(what.reg == sass::no_register ? 255 : what.reg + k / 4U, t);
        access != nullptr ? put_shared(at, k, std::min(bytes, 4U), w) : put_global(at, k, w, bytes);
      }
    }
  }

  void put_shared(Word at, unsigned k, unsigned bytes, Word w) {
    at.value = (at.value + k) & 0xffffffff;
    if (!at.known || at.value + bytes > shared_bytes) {
      ++strayed_;
      return;
    }
    for (unsigned b = 0; b < bytes; ++b)
      shared_[at.value + b] = static_cast<std::uint8_t>(w.value >> 8 * b),
                         shared_known_[at.value + b] = w.known ? 1 : 0;
  }

  void put_global(Word at, unsigned k, Word w, unsigned bytes) {
    std::uint64_t const first = output + 4 * number_ * out_.size(), to = at.value + k;
    if (!at.known || bytes < 4 || to < first || (to - first) / 4 >= out_.size() || to % 4 != 0) {
      ++strayed_;
      return;
    }
    out_[(to - first) / 4] = static_cast<std::uint32_t>(w.value), stored_[(to - first) / 4] = w.known ? 1 : 0;
  }

  SassKernel const& k_;
  std::uint64_t seed_, launch_, number_;
  std::size_t threads_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> known_;
  std::vector<std::uint8_t> shared_, shared_known_;
  std::vector<std::uint32_t> out_;
  std::vector<std::uint8_t> stored_;
  std::array<std::uint32_t, 4 + parameters> bank_{};
  std::uint64_t strayed_ = 0;
};

/// Adds the results on which words of the kernel depend: `IADD3`, and `IADD3 P` for its predicates.
void find_results(SassKernel const& k, std::uint64_t seed, std::set<std::string>& found) {
  std::set<std::string_view> opcodes;
  for (SassKernel::Part const& part : k.parts) opcodes.insert(part.instruction->opcode);
  constexpr std::uint64_t most_launches = 8;
  for (std::uint64_t launch = 0; launch < std::min(k.launches, most_launches); ++launch) {
    SassBlock plain(k, seed, launch, 0);
    plain.run();
    for (std::string_view const opcode : opcodes)
      for (bool const predicate : {false, true}) {
        std::string name = std::string(opcode) + (predicate ? " P" : "");
        if (found.contains(name)) continue;
        SassBlock other(k, seed, launch, 0);
        other.run(Change{opcode, predicate});
        if (other.words() != plain.words()) found.insert(std::move(name));
      }
  }
}

}  // namespace

void check_sass(Recomputation& r) {
  if (r.evidence.shards != 1) malformed("campaign 'sass' has no shards");
  Json const& rows = r.rows.at("kernels");
  if (!rows.is_object()) malformed("'kernels' is no object");
  r.check_units(rows.size());
  std::set<std::string> seen, found;
  std::set<std::uint64_t> numbers;
  std::uint64_t values = 0;
  for (auto const& [name, row] : rows.items()) {
    SassKernel const k = kernel_of(name, row);
    r.row(name, seen);
    std::uint64_t sum = 0, unknown = 0;
    for (std::uint64_t launch = 0; launch < k.launches; ++launch)
      for (std::uint64_t b = 0; b < k.grid; ++b) {
        SassBlock block(k, r.evidence.seed, launch, b);
        block.run();
        sum += block.sum(), unknown += block.unknown();
      }
    r.equal(name + ", its number is its own", numbers.insert(k.number).second, true);
    r.equal<std::uint64_t>(name + ", words that the model does not know", 0, unknown);
    r.equal<std::string>(name + ", its words", k.sum, fmt::format("{:016x}", sum));
    values += k.grid * k.block * k.launches * k.words;
    find_results(k, r.evidence.seed, found);
  }
  r.equal("words", r.counts.count("values"), values);
  std::vector<std::string> missing;
  for (std::string_view const name : sass::measured_words)
    if (!found.contains(std::string(name))) missing.emplace_back(name);
  for (std::string_view const name : sass::measured_predicates)
    if (!found.contains(std::string(name) + " P")) missing.emplace_back(std::string(name) + " P");
  r.equal("results that the model calls measured and no word depends on", Json::array(), Json(missing));
  (void)r.longest.measured("seconds");
  r.evidence.scope = fmt::format("{} kernels, {} words, {} results of instructions on which they depend",
                                 rows.size(), values, found.size());
  r.evidence.every_unit_kept = true;
}

}  // namespace swizproof
