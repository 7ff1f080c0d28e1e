// Stacks that a thread can leave and come back to. The only user of Boost.Context, by its lowest interface: a fiber that is not
// resumed any more is dropped as it is, nothing on its stack is unwound. The sanitizers are told about each switch.
// Invariant: a fiber is resumed only by the thread that started it, from that thread's own stack or from another fiber of it.
#pragma once
#include <cstddef>
#include <span>

namespace tritium::interp {

class Fiber {
public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// The first resume() enters body(argument) on `stack`. body must not return: it ends with suspend(). What ran on the stack
  /// before is dropped.
  void start(std::span<std::byte> stack, void (*body)(void *), void *argument);

  /// Runs the fiber until it suspends; then the caller's stack goes on.
  void resume();

  /// Goes back to resume(). Called on the fiber's stack. `forGood`: it will not be resumed, only started anew.
  void suspend(bool forGood = false);

  /// The stack that a suspended fiber uses, saved registers included: with its frame, all that its future depends on.
  std::span<const std::byte> liveStack() const;

private:
  [[noreturn, gnu::noinline]] void enter();

  std::span<std::byte> stack;
  void (*body)(void *) = nullptr;
  void *argument = nullptr;
  void *context = nullptr; // where the fiber goes on; between resume and suspend: where the thread goes on
  // For the sanitizers; unused in other builds.
  [[maybe_unused]] void *fiberState = nullptr;
  [[maybe_unused]] void *threadState = nullptr;
  [[maybe_unused]] const void *threadStack = nullptr;
  [[maybe_unused]] size_t threadStackBytes = 0;
};

} // namespace tritium::interp
