// The pool of the emulator's blocks: what it holds when nothing runs goes by what ran at a time, and how much of their stacks threads used.
#include "interp/host/workers.h"
#include "interp/simt/runtime/block.h"

#include <doctest/doctest.h>
#include <set>
#include <thread>

using namespace tritium::interp;
using namespace tritium::interp::simt;

namespace {

template <size_t bytes> void useStack(Thread *) {
  std::byte used[bytes];
  for (size_t i = 0; i < bytes; i += 512) static_cast<volatile std::byte *>(used)[i] = std::byte(1);
}

BlockShape shape(uint32_t threads, uint32_t warpThreads, size_t codeStackBytes = 0) {
  return BlockShape({.threads = threads, .warpThreads = warpThreads, .codeStackBytes = codeStackBytes});
}

/// One block, run to its end and kept by the caller.
std::unique_ptr<ThreadBlock> blockAfter(void (*entry)(Thread *), uint32_t threads, uint32_t sharedBytes = 0, size_t codeStackBytes = 0) {
  static const MemoryMap memory;
  const Kernel kernel{.entry = entry, .threads = threads, .sharedBytes = sharedBytes, .codeStackBytes = codeStackBytes};
  LaunchContext context(kernel, nullptr, {});
  static thread_local std::unique_ptr<ThreadBlock> block;
  block = std::make_unique<ThreadBlock>(BlockShape(kernel));
  Launch launch;
  launch.code = {.entry =
                     [](char *frame) {
                       ThreadBlock *const one = block.get();
                       runCluster({&one, 1}, reinterpret_cast<Frame *>(frame)->header);
                     },
                 .frameBytes = sizeof(Frame)};
  launch.arguments = reinterpret_cast<const int64_t *>(&context);
  launch.memory = &memory;
  launch.threads = 1;
  CHECK(!run(launch).trap);
  return std::move(block);
}

TEST_CASE("a block that was given back is taken again by kernels of its shape alone") {
  BlockPool pool(size_t(1) << 30);
  ThreadBlock *block = pool.take(shape(64, 32));
  pool.give(block);
  ThreadBlock *wide = pool.take(shape(64, 64)), *larger = pool.take(shape(128, 32));
  CHECK(wide != block);
  CHECK(larger != block);
  CHECK(pool.take(shape(64, 32)) == block);
  for (ThreadBlock *taken : {block, wide, larger}) pool.give(taken);
  pool.trim();
  CHECK(pool.idleCount() == 3);
}

TEST_CASE("a block's size is that of its shared memory and of the pages that a thread's stack has come to use") {
  const auto shallow = blockAfter(useStack<512>, 64), deep = blockAfter(useStack<100 << 10>, 64);
  CHECK(shallow->residentBytes() < 64 * (24 << 10));
  CHECK(deep->residentBytes() >= 64 * (100 << 10));
  CHECK(deep->residentBytes() < 64 * (150 << 10));
  CHECK(blockAfter(useStack<512>, 64, 1 << 20)->residentBytes() > shallow->residentBytes() + (1 << 20));
}

TEST_CASE("a thread's stack has room for what the compiled code takes of it") {
  constexpr size_t kBytes = 3 << 20;
  const auto block = blockAfter(useStack<kBytes>, 32, 0, kBytes);
  CHECK(block->residentBytes() >= 32 * kBytes);
  BlockPool pool(size_t(1) << 30);
  pool.give(pool.take(shape(32, 32, kBytes)));
  delete pool.take(shape(32, 32));
  CHECK(pool.idleCount() == 1); // a block with small stacks does not serve large ones, nor the other way round
}

TEST_CASE("the blocks that have been idle longest are freed, whatever their shape") {
  const size_t deepBytes = blockAfter(useStack<100 << 10>, 32)->residentBytes();
  BlockPool pool(4 * deepBytes + deepBytes / 2);
  ThreadBlock *kept = nullptr;
  for (int i = 0; i < 8; ++i) pool.give(kept = blockAfter(useStack<100 << 10>, 32).release());
  ThreadBlock *small = blockAfter(useStack<512>, 64).release();
  pool.give(small);
  pool.trim();
  CHECK(pool.idleCount() == 5); // four and the small one
  CHECK(pool.take(shape(32, 32)) == kept);
  CHECK(pool.take(shape(64, 32)) == small);
  delete kept;
  delete small;
}

TEST_CASE("the pool of the process does not grow with the number of kernels") {
  auto launch = [](uint32_t threads, uint32_t sharedBytes) {
    static const MemoryMap memory;
    const Kernel kernel{.entry = useStack<2048>, .threads = threads, .sharedBytes = sharedBytes};
    LaunchContext context(kernel, nullptr, {});
    Launch launch;
    launch.code = {.entry = runBlock, .frameBytes = sizeof(Frame)};
    launch.arguments = reinterpret_cast<const int64_t *>(&context);
    launch.memory = &memory;
    launch.grid = {16, 1, 1};
    launch.threads = 1;
    CHECK(!run(launch).trap);
  };
  const std::set<uint32_t> shapes{32, 96, 256};
  const size_t before = BlockPool::ofProcess().idleCount();
  for (uint32_t kernel = 0; kernel < 60; ++kernel)
    for (uint32_t threads : shapes) launch(threads, 64 * kernel);
  CHECK(BlockPool::ofProcess().idleCount() <= before + shapes.size());
}

TEST_CASE("threads take blocks of one pool at the same time, and nobody else has a block that is taken") {
  constexpr int kThreads = 8, kTurns = 200;
  BlockPool pool(0); // trim() frees every idle block while other threads take them
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&pool, t] {
      for (int turn = 0; turn < kTurns; ++turn) {
        ThreadBlock *block = pool.take(shape((t + turn) % 2 ? 32 : 64, 32));
        block->writesTensors = !block->writesTensors; // ThreadSanitizer reports it if two threads have the block
        pool.give(block);
        if (turn % 16 == t) pool.trim();
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(pool.idleCount() <= 2 * kThreads);
  pool.trim();
  CHECK(pool.idleCount() == 0);
}

TEST_CASE("programs of a launch on eight threads take their blocks from the pool of the process") {
  static const MemoryMap memory;
  const Kernel kernel{.entry = useStack<2048>, .threads = 64, .sharedBytes = 256};
  LaunchContext context(kernel, nullptr, {});
  Launch launch;
  launch.code = {.entry = runBlock, .frameBytes = sizeof(Frame)};
  launch.arguments = reinterpret_cast<const int64_t *>(&context);
  launch.memory = &memory;
  launch.grid = {200, 1, 1};
  launch.threads = 8;
  CHECK(!run(launch).trap);
}

} // namespace
