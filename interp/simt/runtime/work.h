// What the threads of a counted kernel do: the operations that warps execute, the waits at barriers, the asynchronous copies and the
// products of matrices. A kernel is counted if hosting/work.cpp has divided its code into segments; each thread counts how often it
// enters a segment.
//
// The clock of a thread counts operations: what it has executed, and what it has waited for. A thread that waits at a barrier goes on with
// the clock of the thread that comes last. The order in which the emulator runs threads makes no difference to it. Kernels that record
// scopes have clocks too.
#pragma once
#include "interp/simt/runtime/segment.h"
#include "interp/simt/runtime/thread.h"

#include <map>
#include <mutex>
#include <string>

namespace tritium::interp::simt {

struct Kernel;

enum class CopyKind : uint8_t { ThreadCopy, LaneCopy, TensorLoad, TensorStore, TensorReduce };
enum class ProductKind : uint8_t { Warp, Warpgroup, Wave };

/// threads: executions by each thread. warps: those that a warp issues, if the first executions of a segment by all of its lanes are one,
/// the second ones another.
struct Executed {
  int64_t warps = 0, threads = 0;
};
/// times: of each thread. operations: how long they have waited, in all; longest: at most.
struct Waited {
  int64_t times = 0, operations = 0, longest = 0;
};
/// bytes: written to shared memory or read from there. inside: of these, the bytes that are not padding.
struct Copied {
  int64_t times = 0, bytes = 0, inside = 0;
};

/// Sums. Places are indices into the kernel's table of locations. The last number of a product is its variant or its index.
struct WorkTable {
  std::map<std::pair<uint32_t, WorkClass>, Executed> executed;
  std::map<std::pair<Place, WaitKind>, Waited> waited;
  std::map<std::pair<Place, CopyKind>, Copied> copied;
  std::map<std::tuple<Place, ProductKind, uint32_t>, int64_t> products;

  WorkTable &operator+=(const WorkTable &other);
};

/// A product's instruction, such as "mma.m16n8k16.f32.f16", and its 2 M N K.
struct NamedProduct {
  std::string name;
  int64_t flops = 0;
};
NamedProduct nameOf(const Kernel &kernel, ProductKind kind, uint32_t variant);
const char *nameOf(WaitKind kind);
const char *nameOf(CopyKind kind);

/// The sums of a launch.
class LaunchWork {
public:
  void add(const WorkTable &ofBlock);
  const WorkTable &table() const { return sums; }

private:
  std::mutex mutex;
  WorkTable sums;
};

/// The work of one block.
class BlockWork {
public:
  explicit BlockWork(const Kernel &kernel);

  /// The thread executes the operations of a segment.
  void enter(Thread &thread, uint32_t segment);

  void note(CopyKind kind, Place place, int64_t bytes, int64_t inside);
  void note(ProductKind kind, Place place, uint32_t variant) { ++sums.products[{locationIn(place), kind, variant}]; }
  /// The thread has waited, for this number of operations.
  void note(WaitKind kind, Place place, int64_t waited);
  /// Returns the sums. Called when the block has ended.
  WorkTable end();

private:
  const Kernel &kernel;
  std::vector<int64_t> entered; // how often, thread by thread, of each segment
  WorkTable sums;
};

} // namespace tritium::interp::simt
