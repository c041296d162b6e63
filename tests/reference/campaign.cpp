#include "reference/campaign.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

extern char** environ;

#ifdef SWIZPROOF_REFERENCE_IN_PROCESS
namespace swizproof::command {
int run(int argc, char const* const* argv);
}
#endif

namespace reference {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string quoted(std::string const& word) {
  if (!word.empty() &&
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") ==
          std::string::npos)
    return word;
  return "'" + word + "'";
}

std::string whole(int fd) {
  auto const size = lseek(fd, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (pread(fd, text.data(), text.size(), 0) != size) throw std::runtime_error("cannot read back an answer");
  return text;
}

int spawned(std::string const& tool, std::vector<std::string> const& words, int out) {
  std::vector<char*> argv;
  for (auto const& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, out, 2);
  pid_t child = 0;
  if (posix_spawn(&child, tool.c_str(), &actions, nullptr, argv.data(), environ) != 0)
    throw std::runtime_error("cannot start " + tool);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int called([[maybe_unused]] std::vector<std::string> const& words, [[maybe_unused]] int out) {
#ifdef SWIZPROOF_REFERENCE_IN_PROCESS
  std::vector<char const*> argv;
  for (auto const& word : words) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  int const saved_out = dup(1), saved_err = dup(2);
  dup2(out, 1);
  dup2(out, 2);
  int const code = swizproof::command::run(static_cast<int>(words.size()), argv.data());
  std::fflush(nullptr);
  dup2(saved_out, 1);
  dup2(saved_err, 2);
  close(saved_out);
  close(saved_err);
  return code;
#else
  throw std::runtime_error("built without the commands: give --tool PATH");
#endif
}

}  // namespace

Json Answer::json() const {
  auto parsed = Json::parse(out, nullptr, false);
  if (parsed.is_discarded()) throw Difference("the answer is not JSON");
  return parsed;
}

Campaign::Campaign(std::uint64_t seed, std::string tool, bool verbose)
    : seed_(seed), tool_(std::move(tool)), verbose_(verbose) {
  char name[] = "/tmp/swizproof_reference_XXXXXX";
  if (mkdtemp(name) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
  folder_ = name;
  out_ = memfd_create("answer", 0);
  if (out_ < 0) throw std::runtime_error("cannot make a file in memory");
}

Campaign::~Campaign() {
  close(out_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Answer Campaign::ask(std::vector<std::string> words) {
  last_words_ = words;
  words.insert(words.begin(), "swizproof");
  words.emplace_back("--json");
  if (ftruncate(out_, 0) != 0 || lseek(out_, 0, SEEK_SET) != 0)
    throw std::runtime_error("cannot empty a file in memory");
  last_out_.clear();
  last_code_ = tool_.empty() ? called(words, out_) : spawned(tool_, words, out_);
  last_out_ = whole(out_);
  return {last_code_, last_out_};
}

std::string Campaign::file(std::string const& name, std::string const& text) {
  auto const path = folder_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  last_files_ += "--- " + name + "\n" + text + "\n";
  return path;
}

bool Campaign::run(std::string const& command, std::uint64_t number,
                   std::function<long long(Campaign&, Random&)> const& body) {
  std::uint64_t salt = 0;
  for (char const c : command) salt = salt * 131 + static_cast<unsigned char>(c);
  Random random(seed_ * 0x9e3779b97f4a7c15u ^ number * 0xd1342543de82ef95u ^ salt);
  random.next();
  features_.clear();
  last_words_.clear();
  last_files_.clear();
  refused_ = undecided_ = 0;
  auto const start = cpu_seconds();
  auto& tally = tallies_[command];
  long long cases = 1;
  auto const before = tally.differences;
  auto const differ = [&](std::string const& what) {
    tally.differences += 1;
    std::printf("DIFFERENCE %s --seed %llu --first %llu\n  $ swizproof", command.c_str(),
                static_cast<unsigned long long>(seed_), static_cast<unsigned long long>(number));
    for (auto const& word : last_words_) std::printf(" %s", quoted(word).c_str());
    std::printf("\n  %s\n  tool: exit %d, %.700s\n%.1200s", what.c_str(), last_code_, last_out_.c_str(),
                last_files_.c_str());
    std::fflush(stdout);
  };
  try {
    cases = body(*this, random);
    tally.numbers += cases - refused_ - undecided_;
  } catch (Difference const& difference) {
    differ(std::string(difference.what()).substr(0, 700));
  } catch (Json::exception const& error) {
    differ(std::string("a key is missing or of another kind: ") + error.what());
  }
  if (verbose_) {
    std::printf("%s %llu: exit %d swizproof", command.c_str(), static_cast<unsigned long long>(number),
                last_code_);
    for (auto const& word : last_words_) std::printf(" %s", quoted(word).c_str());
    std::printf("\n");
  }
  tally.cases += cases;
  tally.refused += refused_;
  tally.undecided += undecided_;
  tally.seconds += cpu_seconds() - start;
  for (auto const& feature : features_) drawn_[feature][command] += 1;
  return tally.differences != before;
}

long long Campaign::cases() const {
  long long sum = 0;
  for (auto const& [command, tally] : tallies_) sum += tally.cases;
  return sum;
}

long long Campaign::report() const {
  Tally sum;
  std::printf("%-12s %10s %10s %10s %10s %10s %9s\n", "command", "cases", "compared", "refused", "undecided",
              "different", "CPU s");
  auto const row = [](char const* name, Tally const& t) {
    std::printf("%-12s %10lld %10lld %10lld %10lld %10lld %9.1f\n", name, t.cases, t.numbers, t.refused,
                t.undecided, t.differences, t.seconds);
  };
  for (auto const& [command, tally] : tallies_) {
    row(command.c_str(), tally);
    sum.cases += tally.cases;
    sum.numbers += tally.numbers;
    sum.refused += tally.refused;
    sum.undecided += tally.undecided;
    sum.differences += tally.differences;
    sum.seconds += tally.seconds;
  }
  row("all", sum);
  std::printf("\ndrawn:\n");
  for (auto const& [feature, commands] : drawn_) {
    long long total = 0;
    for (auto const& [command, n] : commands) total += n;
    std::printf("%10lld  %-40s", total, feature.c_str());
    for (auto const& [command, n] : commands) std::printf(" %s %lld", command.c_str(), n);
    std::printf("\n");
  }
  return sum.differences;
}

}  // namespace reference
