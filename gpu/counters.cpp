#include "counters.hpp"

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <mutex>

namespace swizproof::gpu {
namespace {

void check(CUptiResult status, char const* what) {
  if (status == CUPTI_SUCCESS) return;
  char const* text = "unknown error";
  (void)cuptiGetResultString(status, &text);
  throw Failure{std::string("counters cannot be read: ") + what + ": " + text};
}

/// A parameter block of CUPTI: zeros, and its own size first.
template <class Params>
Params params(std::size_t size) {
  Params p{};
  p.structSize = size;
  return p;
}
#define PARAMS(type) params<CUpti_##type##_Params>(CUpti_##type##_Params_STRUCT_SIZE)

/// The context of the runtime's current device.
CUcontext current_context() {
  gpu::check(cudaFree(nullptr), "context");  // makes it, if this is the first use
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  gpu::check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000, cudaEnableDefault, &found),
             "cudaGetDriverEntryPointByVersion");
  CUcontext context = nullptr;
  if (found != cudaDriverEntryPointSuccess ||
      reinterpret_cast<CUresult (*)(CUcontext*)>(function)(&context) != CUDA_SUCCESS)
    throw Failure{"counters cannot be read: no current context"};
  return context;
}

/// The host side: turns metric names into a configuration, and counter data into values.
class Host {
 public:
  explicit Host(std::vector<char const*> metrics) : metrics_(std::move(metrics)) {
    int device = 0;
    gpu::check(cudaGetDevice(&device), "cudaGetDevice");
    auto name = PARAMS(Device_GetChipName);
    name.deviceIndex = static_cast<std::size_t>(device);
    check(cuptiDeviceGetChipName(&name), "chip name");
    auto initialize = PARAMS(Profiler_Host_Initialize);
    initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    initialize.pChipName = name.pChipName;
    check(cuptiProfilerHostInitialize(&initialize), "host");
    host_ = initialize.pHostObject;
    auto add = PARAMS(Profiler_Host_ConfigAddMetrics);
    add.pHostObject = host_;
    add.ppMetricNames = metrics_.data();
    add.numMetrics = metrics_.size();
    check(cuptiProfilerHostConfigAddMetrics(&add), "metrics");
    auto size = PARAMS(Profiler_Host_GetConfigImageSize);
    size.pHostObject = host_;
    check(cuptiProfilerHostGetConfigImageSize(&size), "configuration");
    config_.resize(size.configImageSize);
    auto image = PARAMS(Profiler_Host_GetConfigImage);
    image.pHostObject = host_;
    image.configImageSize = config_.size();
    image.pConfigImage = config_.data();
    check(cuptiProfilerHostGetConfigImage(&image), "configuration");
  }
  Host(Host const&) = delete;
  Host& operator=(Host const&) = delete;
  ~Host() {
    auto end = PARAMS(Profiler_Host_Deinitialize);
    end.pHostObject = host_;
    (void)cuptiProfilerHostDeinitialize(&end);
  }

  [[nodiscard]] std::vector<double> values(std::vector<std::uint8_t> const& data, std::size_t range) {
    std::vector<double> out(metrics_.size());
    auto evaluate = PARAMS(Profiler_Host_EvaluateToGpuValues);
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = metrics_.data();
    evaluate.numMetrics = metrics_.size();
    evaluate.pMetricValues = out.data();
    check(cuptiProfilerHostEvaluateToGpuValues(&evaluate), "values");
    return out;
  }
  [[nodiscard]] std::vector<std::uint8_t> const& config() const { return config_; }

 private:
  std::vector<char const*> metrics_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> config_;
};

/// The target side: the profiler of the current context, one range a kernel, kernels replayed if the
/// metrics need several passes.
class Target {
 public:
  Target(Host const& host, std::vector<char const*> metrics, std::size_t ranges) {
    auto enable = PARAMS(RangeProfiler_Enable);
    enable.ctx = current_context();
    check(cuptiRangeProfilerEnable(&enable), "enable");
    profiler_ = enable.pRangeProfilerObject;
    auto size = PARAMS(RangeProfiler_GetCounterDataSize);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check(cuptiRangeProfilerGetCounterDataSize(&size), "counter data");
    data_.resize(size.counterDataSize);
    auto image = PARAMS(RangeProfiler_CounterDataImage_Initialize);
    image.pRangeProfilerObject = profiler_;
    image.counterDataSize = data_.size();
    image.pCounterData = data_.data();
    check(cuptiRangeProfilerCounterDataImageInitialize(&image), "counter data");
    auto set = PARAMS(RangeProfiler_SetConfig);
    set.pRangeProfilerObject = profiler_;
    set.configSize = host.config().size();
    set.pConfig = host.config().data();
    set.counterDataImageSize = data_.size();
    set.pCounterDataImage = data_.data();
    set.range = CUPTI_AutoRange;
    set.replayMode = CUPTI_KernelReplay;
    set.maxRangesPerPass = ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    check(cuptiRangeProfilerSetConfig(&set), "configuration");
  }
  Target(Target const&) = delete;
  Target& operator=(Target const&) = delete;
  ~Target() {
    auto disable = PARAMS(RangeProfiler_Disable);
    disable.pRangeProfilerObject = profiler_;
    (void)cuptiRangeProfilerDisable(&disable);
  }

  /// Counter data of the kernels that `launches` launches.
  [[nodiscard]] std::vector<std::uint8_t> const& run(std::size_t ranges,
                                                     std::function<void()> const& launches) {
    auto start = PARAMS(RangeProfiler_Start);
    start.pRangeProfilerObject = profiler_;
    check(cuptiRangeProfilerStart(&start), "start");
    launches();
    finish("counters");
    auto stop = PARAMS(RangeProfiler_Stop);
    stop.pRangeProfilerObject = profiler_;
    check(cuptiRangeProfilerStop(&stop), "stop");
    auto decode = PARAMS(RangeProfiler_DecodeData);
    decode.pRangeProfilerObject = profiler_;
    check(cuptiRangeProfilerDecodeData(&decode), "decode");
    auto info = PARAMS(RangeProfiler_GetCounterDataInfo);
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    check(cuptiRangeProfilerGetCounterDataInfo(&info), "ranges");
    if (info.numTotalRanges != ranges || decode.numOfRangeDropped != 0)
      throw Failure{"counters cannot be read: kernels were dropped"};
    return data_;
  }

 private:
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> data_;
};

}  // namespace

std::vector<std::vector<double>> count(std::vector<char const*> metrics, std::size_t ranges,
                                       std::function<void()> const& launches) {
  static std::mutex one_at_a_time;  // CUPTI profiles one context of a process
  std::lock_guard const lock(one_at_a_time);
  auto initialize = PARAMS(Profiler_Initialize);
  check(cuptiProfilerInitialize(&initialize), "profiler");
  Host host(metrics);
  Target target(host, metrics, ranges);
  std::vector<std::uint8_t> const& data = target.run(ranges, launches);
  std::vector<std::vector<double>> values;
  for (std::size_t range = 0; range < ranges; ++range) values.push_back(host.values(data, range));
  return values;
}

}  // namespace swizproof::gpu
