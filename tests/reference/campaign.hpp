// Asks swizproof, counts what was asked, and keeps every answer that the model does not give.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/random.hpp"

namespace reference {

using Json = nlohmann::json;

/// Reply of a command line.
struct Answer {
  int code = 0;
  std::string out;

  /// The answer as JSON; throws Difference where it is none.
  Json json() const;
};

/// The tool and the model do not agree; the text says on what.
struct Difference : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How often each command was asked, and how its answers were decided.
struct Tally {
  long long cases = 0;
  long long numbers = 0;    ///< decided by comparing what was computed
  long long refused = 0;    ///< refused, and rightly so
  long long undecided = 0;  ///< the tool said unknown (exit 3)
  long long differences = 0;
  double seconds = 0;
};

/// One run of the reference model.
class Campaign {
 public:
  /// `tool`: a binary to spawn; empty: swizproof::command::run in this process.
  Campaign(std::uint64_t seed, std::string tool, bool verbose);
  ~Campaign();
  Campaign(Campaign const&) = delete;
  Campaign& operator=(Campaign const&) = delete;

  /// Runs swizproof with these words and --json.
  Answer ask(std::vector<std::string> words);

  /// A file of this name with this text, in the run's own folder.
  std::string file(std::string const& name, std::string const& text);

  /// Notes that a case has this property.
  void drew(std::string const& feature) { features_.insert(feature); }

  /// Throws a Difference unless `holds`; `what` says what the model has.
  void expect(bool holds, std::string const& what) const {
    if (!holds) throw Difference(what);
  }

  /// The same, with both values in the text.
  template <class A, class B>
  void same(A const& tool, B const& model, std::string const& what) const {
    Json const left = tool, right = model;
    if (left != right) throw Difference(what + ": tool " + left.dump() + ", model " + right.dump());
  }

  void refused(long long n = 1) { refused_ += n; }
  void undecided(long long n = 1) { undecided_ += n; }

  /// Runs one case of `command`: `body` draws it, asks and compares, and returns how many cases it was.
  /// True where the two differ.
  bool run(std::string const& command, std::uint64_t number,
           std::function<long long(Campaign&, Random&)> const& body);

  /// Writes the tables; returns how many differences there are.
  long long report() const;
  long long cases() const;

 private:
  std::uint64_t seed_;
  std::string tool_;
  bool verbose_;
  std::string folder_;
  int out_ = -1;
  std::vector<std::string> last_words_;
  std::string last_out_, last_files_;
  int last_code_ = 0;
  std::set<std::string> features_;
  long long refused_ = 0, undecided_ = 0;
  std::map<std::string, Tally> tallies_;
  std::map<std::string, std::map<std::string, long long>> drawn_;
};

/// One function a command; each returns the number of cases that it compared.
long long eval_case(Campaign&, Random&);
long long inspect_case(Campaign&, Random&);
long long align_case(Campaign&, Random&);
long long check_case(Campaign&, Random&);
long long find_case(Campaign&, Random&);
long long equal_case(Campaign&, Random&);
long long show_case(Campaign&, Random&);
long long predict_case(Campaign&, Random&);
long long prove_case(Campaign&, Random&);
long long crosscheck_case(Campaign&, Random&);

}  // namespace reference
