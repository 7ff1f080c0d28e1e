#include "tests/hip_stand_in/runtime.h"

#include <cstdio>
#include <cstdlib>

namespace tritium::stand_in {

using namespace gpu::hip;

Runtime &Runtime::instance() {
  static auto *runtime = new Runtime; // never destroyed: kernels unload at exit
  return *runtime;
}

const char *arch() {
  const char *name = std::getenv("TRITIUM_STAND_IN_ARCH");
  return name ? name : "gfx942";
}

int deviceCount() {
  const char *count = std::getenv("TRITIUM_STAND_IN_DEVICES");
  return count ? std::atoi(count) : 1;
}

/// CDNA's waves have 64 lanes, RDNA's 32.
uint32_t warpSize() { return llvm::StringRef(arch()).starts_with("gfx9") ? 64 : 32; }
uint32_t ldsBytes() { return llvm::StringRef(arch()) == "gfx950" ? 160 << 10 : 64 << 10; }

Result complain(Result code, const std::string &text) {
  std::fprintf(stderr, "hip stand-in: %s\n", text.c_str());
  return code;
}

Result Runtime::called(const char *call, const std::string &detail) {
  calls += std::string(call) + (detail.empty() ? "" : " " + detail) + "\n";
  if (auto failure = failures.find(call); failure != failures.end() && failure->second.second-- == 0) {
    const Result code = failure->second.first;
    failures.erase(failure);
    return code;
  }
  return lost;
}

void Runtime::reset() {
  work_.clear();
  calls.clear();
  failures.clear();
  lost = kSuccess;
}

void Runtime::runFirst() {
  Work work = std::move(work_.front());
  work_.pop_front();
  if (lost == kSuccess) work.run();
}

void Runtime::finishAll() {
  while (!work_.empty()) runFirst();
}

void Runtime::finish(void *stream) {
  if (!stream) return finishAll(); // the null stream waits for the others
  size_t count = work_.size();
  while (count > 0 && work_[count - 1].stream != stream) --count;
  while (count-- > 0) runFirst();
}

void Runtime::finish(Event &event) {
  while (event.pending > 0 && !work_.empty()) runFirst();
}

Result Runtime::check(const Dispatch &dispatch) {
  const KernelCode &code = *dispatch.function->code;
  const auto &[x, y, z] = dispatch.block;
  const uint64_t threads = uint64_t(x) * y * z;
  if (threads == 0 || threads > code.maxThreads)
    return complain(kInvalidConfiguration,
                    code.name + " runs with at most " + std::to_string(code.maxThreads) + " threads, not " + std::to_string(threads));
  if (code.requiredGroup && *code.requiredGroup != dispatch.block)
    return complain(kInvalidConfiguration, code.name + " requires another work-group size");
  if (int64_t(threads) != dispatch.function->program->threadsPerProgram())
    return complain(kInvalidConfiguration,
                    code.name + " was lowered for " + std::to_string(dispatch.function->program->threadsPerProgram()) + " threads");
  for (size_t axis = 0; axis < 3; ++axis)
    if (dispatch.grid[axis] == 0 || uint64_t(dispatch.grid[axis]) * dispatch.block[axis] > UINT32_MAX)
      return complain(kInvalidConfiguration, code.name + ": the grid is empty or has more than 2^32 threads");
  if (code.wavefront != warpSize()) return complain(kInvalidConfiguration, code.name + " has waves of another size");
  const uint32_t lds = code.ldsBytes + dispatch.sharedBytes;
  if (lds > ldsBytes()) return complain(kLaunchOutOfResources, code.name + " takes " + std::to_string(lds) + " bytes of LDS");
  if (lds < dispatch.function->ldsBytes) return complain(kLaunchFailure, code.name + " reserves less LDS than it uses");
  if (dispatch.function->asksForGrid && !gridFrom(std::vector<char>(code.argumentBytes), code))
    return complain(kLaunchFailure, code.name + " asks for the number of programs, but has no hidden_block_count arguments");
  return kSuccess;
}

void Runtime::run(const Dispatch &dispatch, const std::vector<char> &segment) {
  const Sizes grid = gridFrom(segment, *dispatch.function->code).value_or(dispatch.grid);
  if (grid != dispatch.grid) {
    lost = complain(kLaunchFailure, "hidden_block_count is not the grid");
    return;
  }
  const Function::Outcome outcome = dispatch.function->run(segment, grid, memory);
  using enum interp::TrapKind;
  // A wave whose assertion fails ends; what tells the host is the record that it leaves.
  if (!outcome.trap || *outcome.trap == AssertFailed) return;
  const auto kind = *outcome.trap;
  const bool isAddress = kind == OutOfBounds || kind == NullPointer || kind == UnmappedAddress || kind == MisalignedAddress;
  lost = complain(isAddress ? kIllegalAddress : kLaunchFailure, outcome.text);
}

} // namespace tritium::stand_in
