// swizproof-gpu: asks the device whether the model of swizproof is right, and writes down what it said.
#include "campaign/digest.hpp"
#include "counters.hpp"
#include "learn/gpu.hpp"
#include "learn/learn.hpp"
#include "ranks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

namespace swizproof::gpu {
namespace {

constexpr char const usage[] =
    "usage: swizproof-gpu CAMPAIGN... [--out FILE] [--seed N] [--seconds S] [--shard i/n] [--devices N]\n"
    "       swizproof-gpu learn [--out FILE] [--seed N] [--seconds S]\n"
    "  CAMPAIGN     exhaustive, wavefronts, counters, copies, global, ldmatrix, tma, tiles, wgmma, operands, "
    "mma, "
    "registers, "
    "boxes, "
    "atomics, cluster, contention, bases, or all\n"
    "  learn        finds the table of the bank model by experiment, without believing any, and holds it\n"
    "               against a hundred million random patterns; swizproof --arch FILE takes what it writes\n"
    "  --out FILE   where the JSON record goes; %c in it is the campaign, and needed for several; - is\n"
    "               standard output (the default)\n"
    "  --seed N     of the random patterns (1)\n"
    "  --seconds S  how long wavefronts draws random patterns, and learn at most (10)\n"
    "  --shard i/n  the i-th of n disjoint parts, 1 <= i <= n (1/1)\n"
    "  --devices N  use the first N visible devices (all); under mpirun each rank uses one\n"
    "A campaign that the device has no instructions for is left out of all, and said.\n"
    "Exit codes: 0 the model holds, 1 a mismatch, 2 bad usage or a failure, 3 a clock that does not repeat\n"
    "itself (learn), 77 no usable GPU.\n";

/// Cases of a campaign, and its devices: its kernels are built for those alone.
struct Campaign {
  std::string name;
  Record (*run)(Device const&, Settings const&, Part);
  bool hopper = false;     ///< compute capability 9.0 alone
  char const* needs = "";  ///< in words
};
#ifdef SWIZPROOF_LEARN_ALONE
Campaign const campaigns[] = {{"wavefronts", wavefronts},
                              {"atomics", atomics, true, "the model of compute capability 9.0"},
                              {"cluster", cluster, true, "clusters, as compute capability 9.0 has them"}};
#else
Campaign const campaigns[] = {
    {"exhaustive", exhaustive},
    {"wavefronts", wavefronts},
#ifdef SWIZPROOF_CUPTI
    {"counters", counters, true, "the counters of GH100"},
    {"copies", copies, true, "the counters of GH100"},
    {"global", global, true, "the counters of GH100"},
#endif
    {"ldmatrix", ldmatrix, true, "stmatrix and the model of compute capability 9.0"},
    {"tma", tma, true, "the copy engine of compute capability 9.0"},
    {"tiles", tiles, true, "the copy engine of compute capability 9.0"},
    {"wgmma", wgmma, true, "wgmma"},
    {"operands", operands, true, "wgmma"},
    {"mma", mma, true, "wgmma, and mma of 64 and 4 bits"},
    {"registers", registers, true, "wgmma"},
    {"boxes", boxes, true, "the copy engine of compute capability 9.0"},
    {"atomics", atomics, true, "the model of compute capability 9.0"},
    {"cluster", cluster, true, "clusters, as compute capability 9.0 has them"},
    {"contention", contention, true, "wgmma"},
    {"bases", bases, true, "the copy engine and wgmma of compute capability 9.0"}};
#endif

bool runs_on(Campaign const& campaign, Device const& device) {
  return !campaign.hopper || device.capability == 90;
}

/// The architectures that the kernels are built for: "75 80 90a".
constexpr char built_for[] = SWIZPROOF_ARCHITECTURES;

/// As the kernel module says it, 580.159.04 for instance.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word)
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos)
      return word;
  return "unknown";
}

struct CommandLine {
  std::vector<Campaign> chosen;
  std::string out = "-";
  Settings settings;
  std::uint64_t shard = 1, shards = 1;
  int devices = 0;  ///< 0: all
  bool learn = false;
};

Failure bad_usage(std::string const& message) { return {message + "\n" + usage, 2}; }

std::uint64_t natural(std::string const& option, std::string const& text, std::uint64_t least) {
  char* end = nullptr;
  errno = 0;
  std::uint64_t const value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0 || errno != 0 || value < least)
    throw bad_usage(option + " does not take '" + text + "'");
  return value;
}

void take_campaign(CommandLine& line, std::string const& word) {
  if (word == "learn") {
    line.learn = true;
    return;
  }
  bool known = false;
  for (Campaign const& c : campaigns) {
    if (word != "all" && word != c.name) continue;
    known = true;
    for (Campaign const& before : line.chosen)
      if (before.name == c.name) throw bad_usage("campaign " + c.name + " appears twice");
    line.chosen.push_back(c);
  }
  if (!known) throw bad_usage("unknown campaign '" + word + "'");
}

void take_option(CommandLine& line, std::string const& option, std::string const& value) {
  if (option == "--out") {
    line.out = value;
  } else if (option == "--seed") {
    line.settings.seed = natural(option, value, 0);
  } else if (option == "--seconds") {
    line.settings.seconds = static_cast<double>(natural(option, value, 0));
  } else if (option == "--devices") {
    line.devices = static_cast<int>(std::min<std::uint64_t>(natural(option, value, 1), 1 << 20));
  } else if (option == "--shard") {
    std::size_t const slash = value.find('/');
    if (slash == std::string::npos) throw bad_usage("--shard takes i/n, not '" + value + "'");
    line.shard = natural(option, value.substr(0, slash), 1);
    line.shards = natural(option, value.substr(slash + 1), 1);
    if (line.shard > line.shards) throw bad_usage("--shard takes i/n with i <= n, not '" + value + "'");
  } else {
    throw bad_usage("unknown option '" + option + "'");
  }
}

CommandLine parse(std::vector<std::string> const& words) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind("--", 0) != 0) {
      take_campaign(line, words[i]);
    } else {
      if (i + 1 == words.size()) throw bad_usage(words[i] + " needs a value");
      take_option(line, words[i], words[i + 1]);
      ++i;
    }
  }
  if (line.learn && !line.chosen.empty()) throw bad_usage("learn stands alone");
  if (line.learn) return line;
  if (line.chosen.empty()) throw bad_usage("which campaign?");
  if (line.chosen.size() > 1 && line.out.find("%c") == std::string::npos)
    throw bad_usage("several campaigns need --out with %c in its name");
  return line;
}

/// The devices of this process: all, the first --devices, or this rank's one. Throws Failure (77)
/// if the kernels run on none of them.
std::vector<Device> find_devices(CommandLine const& line, Ranks const& ranks) {
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver)
    throw Failure{"no usable GPU: the driver is older than CUDA " SWIZPROOF_TOOLKIT " needs", 77};
  if (status != cudaSuccess || count == 0)
    throw Failure{std::string("no usable GPU: ") +
                      (count == 0 && status == cudaSuccess ? "none is visible" : cudaGetErrorString(status)),
                  77};
  int first = 0, used = line.devices == 0 ? count : line.devices;
  if (used > count)
    throw Failure{"--devices " + std::to_string(used) + ": only " + std::to_string(count) + " visible"};
  if (ranks.count > 1) {
    if (ranks.local_count > count)
      throw Failure{std::to_string(ranks.local_count) + " ranks on a host of " + std::to_string(count) +
                    " GPUs: each rank needs its own"};
    first = ranks.local;
    used = 1;
  }
  std::vector<Device> devices;
  for (int d = first; d < first + used; ++d) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, d), "cudaGetDeviceProperties");
    Device device{d, properties.multiProcessorCount, properties.name,
                  static_cast<unsigned>(10 * properties.major + properties.minor),
                  properties.sharedMemPerBlockOptin};
    check(cudaSetDevice(d), "cudaSetDevice");
    if (!kernels_run())
      throw Failure{std::string("no usable GPU: ") + properties.name + " has compute capability " +
                        std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                        ", the kernels are built for " + built_for +
                        "; configure with -DSWIZPROOF_GPU_ARCHITECTURES=native, and see gpu/ANY_CARD.md",
                    77};
    devices.push_back(std::move(device));
  }
  return devices;
}

/// Runs a campaign on all devices of this process at once, each with its part.
Record run(Campaign const& campaign, std::vector<Device> const& devices, Settings const& settings,
           Part mine) {
  Record record;
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (std::size_t d = 0; d < devices.size(); ++d)
    threads.emplace_back([&, d] {
      try {
        check(cudaSetDevice(devices[d].ordinal), "cudaSetDevice");
        Part const part{mine.index * devices.size() + d, mine.count * devices.size()};
        Record const found = campaign.run(devices[d], settings, part);
        std::lock_guard const lock(mutex);
        record.merge(found);
      } catch (...) {
        std::lock_guard const lock(mutex);
        failure = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return record;
}

/// A JSON object; "a/b" is a member of the object "a".
template <class Map, class Print>
std::string object(Map const& map, Print const& print) {
  std::map<std::string, std::string> groups;
  std::string out;
  for (auto const& [key, value] : map) {
    std::size_t const slash = key.find('/');
    std::string& to = slash == std::string::npos ? out : groups[key.substr(0, slash)];
    to += (to.empty() ? "  " : ",\n  ") + quoted(slash == std::string::npos ? key : key.substr(slash + 1)) +
          ": " + print(value);
  }
  for (auto const& [group, text] : groups)
    out += (out.empty() ? "  " : ",\n  ") + quoted(group) + ": {\n" + text + "}";
  return "{\n" + out + "}";
}

/// The day, UTC: 2026-11-22.
std::string today() {
  char date[32];
  std::time_t const now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return date;
}

/// The versions of the runtime and of the driver, as JSON: "13.0".
std::pair<std::string, std::string> versions() {
  int runtime = 0, driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  auto const version = [](int v) {
    return quoted(std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10));
  };
  return {version(runtime), version(driver)};
}

std::string json(Campaign const& campaign, Record const& record, CommandLine const& line,
                 Device const& device, std::size_t devices, int ranks) {
  auto const [runtime, driver] = versions();
  auto const integer = [](std::uint64_t v) { return std::to_string(v); };
  auto const seconds = [](double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", v);
    return std::string(text);
  };
  auto const list = [](std::vector<std::string> const& values) {
    std::string out = "[";
    for (std::string const& value : values) out += (out.size() > 1 ? ",\n" : "\n") + value;
    return out + "]";
  };
  return trace::with_digest(
      "{\n\"format\": \"swizproof evidence 1\",\n\"campaign\": " + quoted(campaign.name) +
      ",\n\"device\": " + quoted(device.name) + ",\n\"architecture\": " + quoted(device.architecture()) +
      ",\n\"devices\": " + std::to_string(devices) + ",\n\"ranks\": " + std::to_string(ranks) +
      ",\n\"driver\": " + quoted(driver_version()) + ",\n\"cuda_driver\": " + driver +
      ",\n\"toolkit\": " + runtime +
      ",\n\"compiler\": \"" SWIZPROOF_TOOLKIT "\",\n\"commit\": \"" SWIZPROOF_COMMIT "\",\n\"date\": " +
      quoted(today()) + ",\n\"seed\": " + std::to_string(line.settings.seed) + ",\n\"shard\": [" +
      std::to_string(line.shard) + ", " + std::to_string(line.shards) + "],\n\"counts\": " +
      object(record.counts, integer) + ",\n\"longest\": " + object(record.longest, seconds) +
      ",\n\"rows\": " + object(record.rows, list) + "}");
}

/// Writes the file whole or not at all: under another name first, then renamed.
void write(std::string const& name, std::string const& text) {
  if (name == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw Failure{"cannot write to standard output"};
    return;
  }
  std::string const part = name + ".part";
  {
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Failure{"cannot write " + part};
  }
  std::error_code error;
  std::filesystem::rename(part, name, error);
  if (error) throw Failure{"cannot write " + name + ": " + error.message()};
}

/// Patterns that a learned table is compared with.
constexpr std::uint64_t learned_patterns = 100'000'000;

/// Learns the first device's table, prints it and writes it. With --out - the description goes to standard error.
int learn_table(CommandLine const& line, Device const& device) {
  check(cudaSetDevice(device.ordinal), "cudaSetDevice");
  auto const start = std::chrono::steady_clock::now();
  Findings const found =
      learn(device_under_test(device, line.settings), learned_patterns, line.settings.seed);
  auto const [runtime, driver] = versions();
  std::string const more = "  \"driver\": " + quoted(driver_version()) + ",\n  \"cuda_driver\": " + driver +
                           ",\n  \"toolkit\": " + runtime + ",\n  \"commit\": \"" SWIZPROOF_COMMIT "\",\n";
  write(line.out, table_file(found, {device.architecture(),
                                     quoted(device.name).substr(1, quoted(device.name).size() - 2), today(),
                                     device.shared_bytes, more}));
  std::FILE* const out = line.out == "-" ? stderr : stdout;
  std::fprintf(out, "%s, %s\n%s", device.name.c_str(), device.architecture().c_str(),
               describe(found).c_str());
  std::fprintf(stderr, "learn: %.2f s\n",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return found.outcome == Learned::table ? 0 : found.outcome == Learned::not_explained ? 1 : 3;
}

/// Campaigns for whose instructions the devices are able; the others are named. Throws Failure (77) if none is left.
void leave_out_what_is_missing(CommandLine& line, std::vector<Device> const& devices) {
  std::string why;
  std::erase_if(line.chosen, [&](Campaign const& campaign) {
    for (Device const& device : devices) {
      if (runs_on(campaign, device)) continue;
      why = campaign.name + ": not run: " + device.name + " (" + device.architecture() + ") has not " +
            campaign.needs;
      std::fprintf(stderr, "%s\n", why.c_str());
      return true;
    }
    return false;
  });
  if (line.chosen.empty()) throw Failure{"nothing is left to run", 77};
}

int run(std::vector<std::string> const& words, Ranks& ranks) {
  if (words == std::vector<std::string>{"--help"}) {
    std::fputs(usage, stdout);
    return 0;
  }
  CommandLine line = parse(words);
  std::vector<Device> const devices = find_devices(line, ranks);
  if (line.learn) return ranks.rank == 0 ? learn_table(line, devices[0]) : 0;
  leave_out_what_is_missing(line, devices);
  bool mismatch = false;
  for (Campaign const& campaign : line.chosen) {
    auto const rank = static_cast<std::uint64_t>(ranks.rank), count = static_cast<std::uint64_t>(ranks.count);
    Part const mine{(line.shard - 1) * count + rank, line.shards * count};
    Record const record = ranks.gather(run(campaign, devices, line.settings, mine));
    if (ranks.rank != 0) continue;
    std::string name = line.out;
    if (std::size_t const at = name.find("%c"); at != std::string::npos) name.replace(at, 2, campaign.name);
    write(name, json(campaign, record, line, devices[0], devices.size(), ranks.count));
    auto const found = record.counts.find("mismatches");
    std::uint64_t const mismatches = found == record.counts.end() ? 0 : found->second;
    mismatch = mismatch || mismatches != 0;
    if (found == record.counts.end())
      std::fprintf(stderr, "%s: no cost model to compare with, %.2f s\n", campaign.name.c_str(),
                   record.longest.at("seconds"));
    else
      std::fprintf(stderr, "%s: %llu mismatches, %.2f s\n", campaign.name.c_str(),
                   static_cast<unsigned long long>(mismatches), record.longest.at("seconds"));
  }
  return mismatch ? 1 : 0;
}

}  // namespace
}  // namespace swizproof::gpu

int main(int argc, char** argv) {
  using namespace swizproof::gpu;
  Ranks ranks(argc, argv);
  try {
    return ranks.leave(run(std::vector<std::string>(argv + 1, argv + argc), ranks));
  } catch (Failure const& failure) {
    std::fprintf(stderr, "swizproof-gpu: %s\n", failure.message.c_str());
    return ranks.fail(failure.exit_code);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "swizproof-gpu: %s\n", error.what());
    return ranks.fail(2);
  }
}
