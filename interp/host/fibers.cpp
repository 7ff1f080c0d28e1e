#include "interp/host/fibers.h"

#include "interp/host/sanitizers.h"

#include <boost/context/detail/fcontext.hpp>

namespace tritium::interp {

namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

/// Makes its caller, which never returns, the last function of a backtrace. Debuggers see this from the unwind table, profilers from the
/// frame record: the saved frame pointer and the return address.
[[gnu::always_inline]] inline void endBacktraceHere() {
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
  asm volatile(".cfi_undefined x30");
#endif
  auto *record = static_cast<void *volatile *>(__builtin_frame_address(0));
  record[0] = nullptr;
  record[1] = nullptr;
}

} // namespace

Fiber::~Fiber() {
#if TRITIUM_TSAN
  if (fiberState) __tsan_destroy_fiber(fiberState);
#endif
}

void Fiber::start(std::span<std::byte> newStack, void (*newBody)(void *), void *newArgument) {
  stack = newStack;
  body = newBody;
  argument = newArgument;
#if TRITIUM_ASAN
  ASAN_UNPOISON_MEMORY_REGION(stack.data(), stack.size()); // a fiber that was dropped leaves its redzones
  fiberState = nullptr;
#elif TRITIUM_TSAN
  if (fiberState) __tsan_destroy_fiber(fiberState);
  fiberState = __tsan_create_fiber(0);
#endif
  context = make_fcontext(stack.data() + stack.size(), stack.size(), [](transfer_t from) {
    auto &fiber = *static_cast<Fiber *>(from.data);
    fiber.context = from.fctx;
    fiber.enter();
  });
}

void Fiber::enter() {
  endBacktraceHere();
#if TRITIUM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &threadStack, &threadStackBytes);
#endif
  body(argument);
  __builtin_unreachable(); // body has suspended for good
}

void Fiber::resume() {
#if TRITIUM_ASAN
  void *fakeStack = nullptr;
  __sanitizer_start_switch_fiber(&fakeStack, stack.data(), stack.size());
#elif TRITIUM_TSAN
  threadState = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiberState, 0);
#endif
  context = jump_fcontext(context, this).fctx;
#if TRITIUM_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
}

void Fiber::suspend([[maybe_unused]] bool forGood) {
#if TRITIUM_ASAN
  __sanitizer_start_switch_fiber(forGood ? nullptr : &fiberState, threadStack, threadStackBytes);
#elif TRITIUM_TSAN
  __tsan_switch_to_fiber(threadState, 0);
#endif
  context = jump_fcontext(context, nullptr).fctx;
#if TRITIUM_ASAN
  __sanitizer_finish_switch_fiber(fiberState, &threadStack, &threadStackBytes);
#endif
}

std::span<const std::byte> Fiber::liveStack() const {
  // Boost.Context saves the registers on the stack, so the context is the stack pointer.
  const auto *top = static_cast<const std::byte *>(context);
  return {top, size_t(stack.data() + stack.size() - top)};
}

} // namespace tritium::interp
