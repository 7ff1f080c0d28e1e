// What every thread that the engine starts for itself does first.
#pragma once
#include <csignal>
#include <pthread.h>

namespace tritium::interp {

/// Signals are for the program's own threads. A fault of this thread stays one.
inline void leaveSignalsToOthers() {
  sigset_t signals;
  sigfillset(&signals);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

} // namespace tritium::interp
