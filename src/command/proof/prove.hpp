// Shared parts of proving the catalogue and proving a file: the options, the choice of claims, the order of reports.
#pragma once

#include "command/line/command.hpp"

#include "system/parallel.hpp"
#include "parse/text/regular_expression.hpp"

#include <swizproof/claim/claim.hpp>
#include <swizproof/claim/obligation.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace swizproof::command {

struct ProveOptions {
  std::vector<std::string> files;
  std::string only;
  std::string name;
  unsigned jobs = default_jobs(Limits{}.megabytes);
  std::string shard = "1/1";
  std::string claims_page;
  std::string junit;
  std::string sarif;
  std::string format = "text";
  std::string certificates;
  bool list = false;
};

/// Proves the obligations in options.files. Throws InputError.
void prove_files(Common& common, ProveOptions const& options);

/// `i/n`: every n-th claim from the i-th on.
inline std::pair<std::size_t, std::size_t> parse_shard(std::string const& text) {
  std::size_t i = 0, n = 0;
  char slash = 0, extra = 0;
  std::istringstream in(text);
  if (!(in >> i >> slash >> n) || slash != '/' || in >> extra || i < 1 || i > n)
    throw InputError::whole("--shard takes i/n with 1 <= i <= n", text);
  return {i, n};
}

/// Two forms in one file: the second would overwrite the first. Throws InputError.
inline void refuse_one_path_twice(std::vector<std::pair<std::string, std::string>> const& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      auto const& [option, path] = outputs[i];
      auto const& [other, first] = outputs[j];
      auto const whole = [](std::string const& name) {
        std::error_code ignored;
        return name.empty() || name == "-" || name == "/dev/null"
                   ? std::filesystem::path()
                   : std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
      };
      if (!whole(path).empty() && whole(path) == whole(first))
        throw InputError::whole(other + " and " + option + " name one file", path,
                                "give each a file of its own");
    }
}

/// The names by which --name and --only find a claim; of an obligation also that with its architecture, which reports print.
inline std::vector<std::string> names_of(Claim const& claim) { return {claim.name}; }
inline std::vector<std::string> names_of(Obligation const& o) { return {o.name, o.title()}; }

/// The items that --only, --name and --shard choose. Throws InputError if there are none.
template <class Item>
std::vector<Item> select(std::vector<Item> items, ProveOptions const& options) {
  std::vector<Item> chosen;
  auto const [shard, shards] = parse_shard(options.shard);
  std::string const& only = options.name.empty() ? options.only : options.name;
  auto const refuse = [](std::string message, std::string const& text, std::string hint = {}) {
    throw InputError::whole(std::move(message), text, std::move(hint));
  };
  Pattern const pattern(options.only, "--only");
  std::size_t matching = 0;
  for (Item& item : items) {
    std::vector<std::string> const names = names_of(item);
    bool const match = std::any_of(names.begin(), names.end(), [&](std::string const& name) {
      return (options.name.empty() || name == options.name) && pattern.found_in(name);
    });
    if (match && matching++ % shards == shard - 1) chosen.push_back(std::move(item));
  }
  if (matching == 0)
    refuse("no claim has a name that matches", only, "'swizproof prove [FILE] --list' prints the names");
  if (chosen.empty())
    refuse("only " + std::to_string(matching) + " claims match: this shard is empty", options.shard);
  return chosen;
}

/// Decides claims or obligations on several threads; their reports come in order. `items` must outlive the result.
template <class Item>
auto decide_in_order(std::vector<Item> const& items, unsigned jobs, Limits limits) {
  // More than one a core only take each other's time, and each has a limit of it.
  jobs = std::min(jobs, std::max(1U, std::thread::hardware_concurrency()));
  unsigned const count = std::max(static_cast<unsigned>(items.size()), 1U);
  limits.threads = std::max(1U, jobs / count);  // that one item may use
  return InOrder<decltype(decide(items[0], limits))>(
      items.size(), jobs, [&items, limits](std::size_t i) { return decide(items[i], limits); });
}

}  // namespace swizproof::command
