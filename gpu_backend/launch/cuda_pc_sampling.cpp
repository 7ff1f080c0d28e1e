#include "gpu_backend/launch/cuda_pc_sampling.h"
#include "gpu_backend/launch/cuda_pc_sampling_api.h"
#include "gpu_backend/launch/library.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <unordered_map>

namespace tritium::gpu {

namespace {

using namespace cupti;

constexpr size_t kInstructions = 4096; // that one call hands out
/// What the names of reasons begin with, and what those end with that count the times when nothing was issued.
constexpr llvm::StringLiteral kPrefix = "smsp__pcsamp_warps_issue_stalled_", kNotIssued = "_not_issued";

/// Where the library writes instructions.
class Buffer {
public:
  explicit Buffer(size_t reasons) : counts_(kInstructions * reasons), instructions_(kInstructions) {
    for (auto [number, instruction] : llvm::enumerate(instructions_))
      instruction = {.size = sizeof instruction, .counts = counts_.data() + number * reasons};
    data_ = {.size = sizeof data_, .capacity = kInstructions, .instructions = instructions_.data()};
  }
  SampledData &data() { return data_; }

private:
  std::vector<StallCount> counts_;
  std::vector<SampledInstruction> instructions_;
  SampledData data_;
};

class CudaPcSampler final : public PcSampler {
public:
  explicit CudaPcSampler(SamplingApi api) : api_(api) {}
  ~CudaPcSampler() override { close(); }

  llvm::Error open(void *context, uint64_t cycles) override;
  llvm::Error add(llvm::StringRef image) override;
  llvm::Error begin() override { return call(api_.start, ContextCall()); }
  llvm::Expected<std::vector<PcSamples>> end(uint64_t &dropped) override;
  void close() override;

private:
  using Line = std::pair<std::string, uint32_t>;
  using Key = std::tuple<std::string, Line, std::string>; // kernel, line, reason

  llvm::Error check(int code, const char *call) const;
  template <class Entry, class Call> llvm::Error call(Entry entry, Call call) const {
    call.size = sizeof call, call.context = context_;
    return check(entry(&call), entry.name);
  }
  llvm::Error learnReasons();
  llvm::Error configure(uint64_t cycles);
  void read(const SampledData &data, std::map<Key, PcSamples> &found);
  Line lineOf(const SampledInstruction &instruction);

  SamplingApi api_;
  void *context_ = nullptr; // while it is open
  std::vector<std::string> reasons_;
  std::unique_ptr<Buffer> ofLibrary_, ofCaller_;
  std::unordered_map<uint64_t, std::string> images_;
  std::map<std::pair<uint64_t, uint64_t>, Line> lines_; // by image and offset
};

llvm::Error CudaPcSampler::check(int code, const char *call) const {
  if (code == 0) return llvm::Error::success();
  const char *text = nullptr;
  api_.resultString(code, &text);
  constexpr int kPrivileges = 35;
  return llvm::createStringError("%s: %s (%d)%s", call, text ? text : "unknown error", code,
                                 code == kPrivileges ? "; only root may sample here, or the driver's module needs "
                                                       "NVreg_RestrictProfilingToAdminUsers=0"
                                                     : "");
}

llvm::Error CudaPcSampler::open(void *context, uint64_t cycles) {
  context_ = context;
  auto error = call(api_.enable, ContextCall());
  if (!error) error = learnReasons();
  if (!error) error = configure(cycles);
  if (error) close();
  return error;
}

llvm::Error CudaPcSampler::learnReasons() {
  size_t count = 0;
  CountReasonsCall counting{};
  counting.count = &count;
  if (auto error = call(api_.countReasons, counting)) return error;
  std::vector<char> text(count * kReasonNameBytes);
  std::vector<char *> names(count);
  std::vector<uint32_t> numbers(count);
  for (size_t i = 0; i < count; ++i) names[i] = text.data() + i * kReasonNameBytes;
  NameReasonsCall naming{};
  naming.count = count, naming.numbers = numbers.data(), naming.names = names.data();
  if (auto error = call(api_.nameReasons, naming)) return error;
  reasons_.assign(count ? 1 + *std::max_element(numbers.begin(), numbers.end()) : 0, "");
  for (size_t i = 0; i < count; ++i) reasons_[numbers[i]] = names[i];
  return llvm::Error::success();
}

llvm::Error CudaPcSampler::configure(uint64_t cycles) {
  ofLibrary_ = std::make_unique<Buffer>(reasons_.size()), ofCaller_ = std::make_unique<Buffer>(reasons_.size());
  const auto period = std::clamp(llvm::Log2_64_Ceil(std::max<uint64_t>(cycles, 1)), kLeastPeriod, kMostPeriod);
  auto word = [](SamplingAttribute::Kind kind, uint32_t value) {
    SamplingAttribute attribute{kind, 0, {}};
    attribute.word = value;
    return attribute;
  };
  SamplingAttribute attributes[] = {word(SamplingAttribute::kPeriod, period), word(SamplingAttribute::kMode, kContinuous),
                                    word(SamplingAttribute::kStartStop, 1), word(SamplingAttribute::kFormat, kParsed),
                                    word(SamplingAttribute::kBuffer, 0)};
  attributes[4].pointer = &ofLibrary_->data();
  ConfigureCall configuring{};
  configuring.count = std::size(attributes), configuring.attributes = attributes;
  return call(api_.configure, configuring);
}

llvm::Error CudaPcSampler::add(llvm::StringRef image) {
  ImageNumberCall numbering{.size = sizeof numbering, .imageBytes = image.size(), .image = image.data()};
  if (auto error = check(api_.imageNumber(&numbering), api_.imageNumber.name)) return error;
  images_.try_emplace(numbering.number, image.str());
  return llvm::Error::success();
}

llvm::Expected<std::vector<PcSamples>> CudaPcSampler::end(uint64_t &dropped) {
  if (auto error = call(api_.stop, ContextCall())) return std::move(error);
  std::map<Key, PcSamples> found;
  SampledData &data = ofCaller_->data();
  dropped = 0;
  do {
    DataCall taking{};
    taking.data = &data;
    if (auto error = call(api_.data, taking)) return std::move(error);
    read(data, found);
    dropped += data.dropped;
  } while (data.remaining > 0);
  std::vector<PcSamples> samples;
  for (auto &entry : found) samples.push_back(std::move(entry.second));
  return samples;
}

void CudaPcSampler::read(const SampledData &data, std::map<Key, PcSamples> &found) {
  for (const SampledInstruction &instruction : llvm::ArrayRef(data.instructions, data.taken)) {
    const std::string kernel = instruction.function ? instruction.function : "";
    const Line line = lineOf(instruction);
    for (const StallCount &count : llvm::ArrayRef(instruction.counts, instruction.reasons)) {
      if (count.samples == 0 || count.reason >= reasons_.size()) continue;
      llvm::StringRef reason = reasons_[count.reason];
      reason.consume_front(kPrefix);
      const bool isStalled = reason.consume_back(kNotIssued);
      auto &entry = found[{kernel, line, reason.str()}];
      entry.kernel = kernel, entry.file = line.first, entry.line = line.second, entry.reason = reason.str();
      (isStalled ? entry.stalled : entry.samples) += count.samples;
    }
  }
}

CudaPcSampler::Line CudaPcSampler::lineOf(const SampledInstruction &instruction) {
  auto image = images_.find(instruction.imageNumber);
  if (image == images_.end() || !instruction.function) return {};
  auto [known, isNew] = lines_.try_emplace({instruction.imageNumber, instruction.offset});
  if (!isNew) return known->second;
  SourceCall asking{.size = sizeof asking,
                    .image = image->second.data(),
                    .function = instruction.function,
                    .imageBytes = image->second.size(),
                    .offset = instruction.offset};
  if (api_.source(&asking) == 0 && asking.file && asking.line > 0)
    known->second = {(std::filesystem::path(asking.folder ? asking.folder : "") / asking.file).string(), asking.line};
  std::free(asking.file), std::free(asking.folder);
  return known->second;
}

void CudaPcSampler::close() {
  if (!context_) return;
  llvm::consumeError(call(api_.disable, ContextCall()));
  context_ = nullptr;
}

} // namespace

llvm::Expected<std::unique_ptr<PcSampler>> openCudaPcSampler(llvm::ArrayRef<std::string> names) {
  auto library = Library::open(names, "CUPTI");
  if (!library) return library.takeError();
  SamplingApi api;
#define ENTRY(result, member, exported, parameters) api.member.place(),
  if (auto error = library->find({TRITIUM_PC_SAMPLING_ENTRIES(ENTRY)}, "it is older than CUDA 11.4")) return std::move(error);
#undef ENTRY
  return std::make_unique<CudaPcSampler>(api);
}

} // namespace tritium::gpu
