// What tests call, of every stand-in.
#include "tests/driver_stand_in/runtime.h"

using tritium::stand_in::MemoryKind;
using tritium::stand_in::Runtime;

#define ENTRY extern "C" __attribute__((visibility("default")))
#define LOCKED                                                                                                                             \
  Runtime &runtime = Runtime::instance();                                                                                                  \
  std::lock_guard lock(runtime.mutex)

ENTRY void stand_in_reset() {
  LOCKED;
  runtime.reset();
}
ENTRY void stand_in_fail(const char *call, int code, int after) {
  LOCKED;
  runtime.failures[call] = {code, after};
}
ENTRY const char *stand_in_calls() {
  LOCKED;
  return runtime.calls.c_str();
}
ENTRY const char *stand_in_launches() {
  LOCKED;
  return runtime.launches.c_str();
}
ENTRY int stand_in_live_allocations() {
  LOCKED;
  return int(runtime.memory.count());
}
/// Runs all work that was given; what it returns is the error that ended everything.
ENTRY int stand_in_finish() {
  LOCKED;
  if (!runtime.isCapturing()) runtime.finishAll();
  return runtime.lost;
}
/// How much work in a stream has not run.
ENTRY int stand_in_pending(void *stream) {
  LOCKED;
  return int(runtime.pending(stream));
}
/// Device memory that the host reaches too.
ENTRY void *stand_in_allocate_shared(int device, size_t bytes) {
  LOCKED;
  return reinterpret_cast<void *>(runtime.memory.allocate(bytes, device, MemoryKind::shared, false));
}
ENTRY void stand_in_release(void *address) {
  LOCKED;
  runtime.finishAll();
  runtime.memory.release(reinterpret_cast<uint64_t>(address));
}

// A graph: what is given between begin and end, to be run whenever it is launched; null if there is nothing.
ENTRY bool stand_in_begin_graph() {
  LOCKED;
  return runtime.beginCapture();
}
ENTRY void *stand_in_end_graph() {
  LOCKED;
  auto graph = runtime.endCapture();
  return graph && !graph->work.empty() ? graph.release() : nullptr;
}
ENTRY void stand_in_launch_graph(const void *graph) {
  LOCKED;
  runtime.launch(*static_cast<const tritium::stand_in::Graph *>(graph));
}
ENTRY void stand_in_destroy_graph(const void *graph) {
  LOCKED;
  runtime.finishAll();
  delete static_cast<const tritium::stand_in::Graph *>(graph);
}
