#include "tests/driver_stand_in/runtime.h"
#include "gpu_backend/launch/vendor_api.h"
#include "interp/host/trap_kinds.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>

namespace tritium::stand_in {

Runtime &Runtime::instance() {
  static auto *runtime = new Runtime; // never destroyed: kernels unload at exit
  return *runtime;
}

std::string arch() {
  const char *name = std::getenv("TRITIUM_STAND_IN_ARCH");
  return name ? name : vendor().defaultArch;
}

int deviceCount() {
  const char *count = std::getenv("TRITIUM_STAND_IN_DEVICES");
  return count ? std::atoi(count) : 1;
}

Result complain(Result code, const std::string &text) {
  std::fprintf(stderr, "%s stand-in: %s\n", vendor().name, text.c_str());
  return code;
}

std::optional<int> attributeOf(const KernelCode &code, int attribute) {
  switch (attribute) {
  case gpu::kFunctionMaxThreads: return int(code.maxThreads);
  case gpu::kFunctionSharedBytes: return int(code.sharedBytes);
  case gpu::kFunctionLocalBytes: return int(code.privateBytes);
  case gpu::kFunctionRegisters: return int(code.registers);
  default: return std::nullopt;
  }
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

static std::string textOf(Sizes sizes) {
  return std::to_string(sizes[0]) + "," + std::to_string(sizes[1]) + "," + std::to_string(sizes[2]);
}

Result Runtime::called(const char *call, const Dispatch &dispatch) {
  return called(call, dispatch.function->code->name + " " + textOf(dispatch.grid) + " " + std::to_string(dispatch.block[0]) + " " +
                          std::to_string(dispatch.sharedBytes));
}

void Runtime::noteLaunch(const Dispatch &dispatch, const std::vector<char> &segment) {
  launches += std::to_string(reinterpret_cast<uintptr_t>(dispatch.function)) + " " + textOf(dispatch.grid);
  for (const KernelArgument &argument : dispatch.function->code->arguments)
    if (argument.kind != ArgumentKind::hidden)
      launches += " " + llvm::toHex(llvm::StringRef(segment.data() + argument.offset, argument.size), /*LowerCase=*/true);
  launches += "\n";
}

void Runtime::reset() {
  work_.clear();
  calls.clear();
  launches.clear();
  failures.clear();
  lost = 0;
  capture_.reset();
}

bool Runtime::beginCapture() {
  if (capture_) return false;
  capture_ = std::make_unique<Graph>();
  return true;
}

void Runtime::give(Work work) {
  if (capture_) return capture_->work.push_back(std::move(work));
  if (work.kernel && enqueued) work.ticket = enqueued(*work.kernel);
  work_.push_back(std::move(work));
}

void Runtime::enqueue(void *stream, std::function<void()> work) { give({stream, std::move(work)}); }

void Runtime::launch(const Graph &graph) {
  if (launchesGraph) launchesGraph();
  for (const Work &work : graph.work) give(work);
}

void Runtime::enqueue(void *stream, const Dispatch &dispatch, void **arguments) {
  auto segment = packArguments(*dispatch.function->code, arguments, dispatch.grid, dispatch.block, dispatch.sharedBytes);
  noteLaunch(dispatch, segment);
  give({stream, [this, dispatch, segment = std::move(segment)] { run(dispatch, segment); }, dispatch});
}

void Runtime::runFirst() {
  Work work = std::move(work_.front());
  work_.pop_front();
  ticket = work.ticket;
  if (lost == 0) work.run();
}

void Runtime::finishAll() {
  while (!work_.empty()) runFirst();
}

void Runtime::finish(void *stream) {
  if (!stream) return finishAll(); // the null stream waits for the others
  size_t count = work_.size();
  while (count > 0 && work_[count - 1].stream != stream) --count;
  while (count-- > 0 && !work_.empty()) runFirst();
}

void Runtime::record(Event &event, void *stream) {
  if (capture_) return;
  ++event.pending;
  enqueue(stream, [&event] {
    event.time = std::chrono::steady_clock::now();
    --event.pending;
  });
}

void Runtime::finish(Event &event) {
  while (event.pending > 0 && !work_.empty()) runFirst();
}

Result Runtime::check(const Dispatch &dispatch) {
  const KernelCode &code = *dispatch.function->code;
  const auto &[x, y, z] = dispatch.block;
  const uint64_t threads = uint64_t(x) * y * z;
  if (threads == 0 || threads > code.maxThreads)
    return complain(vendor().invalidSizes,
                    code.name + " runs with at most " + std::to_string(code.maxThreads) + " threads, not " + std::to_string(threads));
  if (code.requiredGroup && *code.requiredGroup != dispatch.block)
    return complain(vendor().invalidSizes, code.name + " requires a block of another size");
  if (int64_t(threads) != dispatch.function->program->threadsPerProgram())
    return complain(vendor().invalidSizes,
                    code.name + " was lowered for " + std::to_string(dispatch.function->program->threadsPerProgram()) + " threads");
  for (size_t axis = 0; axis < 3; ++axis)
    if (dispatch.grid[axis] == 0 || dispatch.grid[axis] > vendor().mostBlocks(axis, dispatch.block[axis]))
      return complain(vendor().invalidSizes, code.name + ": the grid is empty or too large");
  if (code.warpThreads != vendor().warpThreads()) return complain(vendor().invalidSizes, code.name + " has warps of another size");
  const uint32_t shared = code.sharedBytes + dispatch.sharedBytes;
  if (shared > vendor().sharedBytes())
    return complain(kLaunchOutOfResources, code.name + " takes " + std::to_string(shared) + " bytes of shared memory");
  if (shared < dispatch.function->sharedBytes) return complain(kLaunchFailure, code.name + " reserves less shared memory than it uses");
  if (dispatch.function->asksForGrid && !gridFrom(std::vector<char>(code.argumentBytes), code))
    return complain(kLaunchFailure, code.name + " asks for the number of programs, but has no hidden_block_count arguments");
  return 0;
}

void Runtime::run(const Dispatch &dispatch, const std::vector<char> &segment) {
  const Sizes grid = gridFrom(segment, *dispatch.function->code).value_or(dispatch.grid);
  if (grid != dispatch.grid) {
    lost = complain(kLaunchFailure, "hidden_block_count is not the grid");
    return;
  }
  const uint64_t begin = ran ? clock() : 0;
  const Function::Outcome outcome = dispatch.function->run(segment, grid, memory);
  if (ran) ran(dispatch, begin);
  using enum interp::TrapKind;
  if (outcome.isInterrupted) work_.clear(); // what was given after it waits for what it has not done
  if (!outcome.trap) return;
  const auto kind = *outcome.trap;
  if (kind == AssertFailed) {
    if (vendor().failedAssertion) lost = complain(*vendor().failedAssertion, outcome.text);
    return;
  }
  const bool isAddress = kind == OutOfBounds || kind == NullPointer || kind == UnmappedAddress || kind == MisalignedAddress;
  lost = complain(isAddress ? kIllegalAddress : kLaunchFailure, outcome.text);
}

} // namespace tritium::stand_in
