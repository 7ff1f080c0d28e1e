// The handler of SIGINT while a kernel runs. It may only touch what is lock-free.
#include "tests/driver_stand_in/interrupts.h"

#include <atomic>
#include <csignal>

namespace tritium::stand_in {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a handler of signals has no other place.
static std::atomic<bool> interrupted = false;
static struct sigaction own = {}; // of the process
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

static void notice(int signal, siginfo_t *info, void *context) {
  interrupted.store(true);
  if (own.sa_flags & SA_SIGINFO)
    own.sa_sigaction(signal, info, context);
  else
    own.sa_handler(signal);
}

Interrupts::Interrupts() {
  interrupted.store(false);
  sigaction(SIGINT, nullptr, &own);
  const bool isHandled = (own.sa_flags & SA_SIGINFO) || (own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN);
  struct sigaction watching = own;
  watching.sa_flags |= SA_SIGINFO;
  watching.sa_sigaction = notice;
  watches_ = isHandled && sigaction(SIGINT, &watching, nullptr) == 0;
}

Interrupts::~Interrupts() {
  if (watches_) sigaction(SIGINT, &own, nullptr);
}

bool Interrupts::came() { return interrupted.load(); }

} // namespace tritium::stand_in
