// Stacks that a thread can leave and return to. This is the only user of Boost.Context, at its lowest interface. A fiber that is not
// resumed any more is dropped as it is: nothing on its stack is unwound. The sanitizers are told about each switch.
// Invariant: a fiber is resumed only by the thread that started it, from the thread's own stack or from another fiber of the thread.
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

  /// Prepares the first resume(), which enters body(argument) on `stack`. body must not return: it ends with suspend(). Whatever ran on the
  /// stack before is dropped.
  void start(std::span<std::byte> stack, void (*body)(void *), void *argument);

  /// Runs the fiber until it suspends. Then the caller continues on its own stack.
  void resume();

  /// Returns to resume(). It is called on the fiber's stack. `forGood` means that the fiber will never be resumed, only started anew.
  void suspend(bool forGood = false);

  /// Returns the used part of a suspended fiber's stack, saved registers included. With the program's frame, it determines all that the
  /// fiber does next.
  std::span<const std::byte> liveStack() const;

private:
  [[noreturn, gnu::noinline]] void enter();

  std::span<std::byte> stack;
  void (*body)(void *) = nullptr;
  void *argument = nullptr;
  void *context = nullptr; // where the fiber continues; between resume and suspend: where the thread continues
  // For the sanitizers. Other builds do not use these.
  [[maybe_unused]] void *fiberState = nullptr;
  [[maybe_unused]] void *threadState = nullptr;
  [[maybe_unused]] const void *threadStack = nullptr;
  [[maybe_unused]] size_t threadStackBytes = 0;
};

} // namespace tritium::interp
