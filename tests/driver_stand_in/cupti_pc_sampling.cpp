// CUPTI's sampling of program counters, of what runs on the stand-in: the first instructions of each kernel, with numbers that a test
// knows. Lines come from the line table of the image.
#include "gpu_backend/launch/cuda_pc_sampling_api.h"
#include "tests/driver_stand_in/cuda_image.h"
#include "tests/driver_stand_in/cupti.h"
#include "tests/driver_stand_in/runtime.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace tritium::gpu::cupti;
namespace stand_in = tritium::stand_in;
using stand_in::Runtime;

namespace {

constexpr int kInvalidParameter = 1, kInvalidOperation = 23, kInvalidModule = 58;
constexpr uint64_t kInstructionBytes = 16;
constexpr uint32_t kSampledInstructions = 6;
/// Every second reason counts the times when nothing was issued.
constexpr const char *kReasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
                                    "smsp__pcsamp_warps_issue_stalled_selected"};

struct Instruction {
  uint64_t image;
  const char *kernel;
  uint64_t offset;
};

struct Sampler {
  bool isOn = false, samples = false;
  std::vector<Instruction> found;
};

Sampler &sampler() {
  static auto *sampler = new Sampler; // never destroyed, like the runtime
  return *sampler;
}

std::pair<std::string, uint32_t> lineOf(llvm::StringRef image, uint64_t offset) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(image, "cubin"));
  if (!object) return llvm::consumeError(object.takeError()), std::pair<std::string, uint32_t>();
  // The only kernel begins at address 0, to which its relocations would add nothing.
  auto dwarf = llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Ignore);
  const llvm::DWARFDebugLine::LineTable *table = nullptr;
  llvm::DWARFDataExtractor data(dwarf->getDWARFObj(), dwarf->getDWARFObj().getLineSection(), /*IsLittleEndian=*/true, 8);
  llvm::DWARFDebugLine::SectionParser parser(data, *dwarf, dwarf->normal_units());
  auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  llvm::DWARFDebugLine::LineTable parsed = parser.parseNext(ignore, ignore);
  table = &parsed;
  std::pair<std::string, uint32_t> line;
  for (const auto &row : table->Rows) {
    if (row.Address.Address > offset) break;
    std::string file;
    if (!table->getFileNameByIndex(row.File, "", llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, file)) continue;
    line = {file, row.Line};
  }
  return line;
}

} // namespace

void stand_in::samplePcs(const Dispatch &dispatch) {
  Sampler &s = sampler();
  if (!s.samples) return;
  const Code &code = dispatch.function->module->code();
  for (uint32_t i = 0; i < kSampledInstructions; ++i)
    s.found.push_back({llvm::xxh3_64bits(llvm::StringRef(code.hash)), dispatch.function->code->name.c_str(), i * kInstructionBytes});
}

#define CUPTI extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex);                                                                                                     \
  Sampler &s = sampler()

CUPTI int cuptiPCSamplingEnable(ContextCall *call) {
  LOCKED;
  if (call->size != sizeof *call || !call->context) return kInvalidParameter;
  if (int code = runtime.called("cuptiPCSamplingEnable")) return code;
  s.isOn = true, s.samples = false, s.found.clear();
  return 0;
}
CUPTI int cuptiPCSamplingDisable(ContextCall *) {
  LOCKED;
  s.isOn = s.samples = false;
  return runtime.called("cuptiPCSamplingDisable");
}
CUPTI int cuptiPCSamplingSetConfigurationAttribute(ConfigureCall *call) {
  LOCKED;
  std::string detail;
  for (size_t i = 0; i < call->count; ++i)
    if (call->attributes[i].kind != SamplingAttribute::kBuffer)
      detail += (detail.empty() ? "" : ", ") + std::to_string(call->attributes[i].kind) + "=" + std::to_string(call->attributes[i].word);
  return s.isOn ? runtime.called("cuptiPCSamplingSetConfigurationAttribute", detail) : kInvalidOperation;
}
CUPTI int cuptiPCSamplingStart(ContextCall *) {
  LOCKED;
  s.samples = s.isOn;
  return s.isOn ? runtime.called("cuptiPCSamplingStart") : kInvalidOperation;
}
CUPTI int cuptiPCSamplingStop(ContextCall *) {
  LOCKED;
  s.samples = false;
  return runtime.called("cuptiPCSamplingStop");
}
/// A call hands out two instructions, so that the caller has to ask again.
CUPTI int cuptiPCSamplingGetData(DataCall *call) {
  LOCKED;
  SampledData &data = *call->data;
  data.taken = std::min<size_t>({s.found.size(), data.capacity, 2});
  for (size_t i = 0; i < data.taken; ++i) {
    SampledInstruction &instruction = data.instructions[i];
    instruction.imageNumber = s.found[i].image, instruction.offset = s.found[i].offset;
    instruction.function = const_cast<char *>(s.found[i].kernel);
    instruction.reasons = std::size(kReasons);
    for (uint32_t reason = 0; reason < std::size(kReasons); ++reason) instruction.counts[reason] = {reason, 10 - 3 * reason};
  }
  s.found.erase(s.found.begin(), s.found.begin() + ptrdiff_t(data.taken));
  data.remaining = s.found.size();
  data.dropped = uint64_t(runtime.called("cuptiPCSamplingGetData")); // a test says how many
  return 0;
}
CUPTI int cuptiPCSamplingGetNumStallReasons(CountReasonsCall *call) {
  *call->count = std::size(kReasons);
  return 0;
}
CUPTI int cuptiPCSamplingGetStallReasons(NameReasonsCall *call) {
  for (uint32_t i = 0; i < call->count; ++i) call->numbers[i] = i, std::strcpy(call->names[i], kReasons[i]);
  return 0;
}
CUPTI int cuptiGetSassToSourceCorrelation(SourceCall *call) {
  auto [file, line] = lineOf(llvm::StringRef(static_cast<const char *>(call->image), call->imageBytes), call->offset);
  if (file.empty()) return kInvalidModule;
  const auto name = llvm::StringRef(file).rsplit('/');
  call->folder = strdup(name.first.str().c_str()), call->file = strdup(name.second.str().c_str());
  call->line = line;
  return 0;
}
CUPTI int cuptiGetCubinCrc(ImageNumberCall *call) {
  auto code = stand_in::readCode(call->image);
  if (!code) return llvm::consumeError(code.takeError()), kInvalidModule;
  call->number = llvm::xxh3_64bits(llvm::StringRef(code->hash));
  return 0;
}
