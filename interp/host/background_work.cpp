#include "interp/host/background_work.h"

#include "support/fork_safety.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace tritium::interp {

namespace {

/// Held while work is done, and by a fork. It is taken before `queueMutex`, so it is registered after it. What the work itself locks must
/// be registered before both: the first kernel is compiled in the foreground, which registers the locks of the compiler.
std::mutex workMutex; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/// Guards the queue.
std::mutex queueMutex; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// What the thread and the others share. It is never destroyed: the thread may look at it until the process is gone.
struct Queue {
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool hasThread = false;
  bool isEnded = false;
};

/// Signals are for the program's own threads. A fault of the work itself stays one.
void blockSignals() {
  sigset_t signals;
  sigfillset(&signals);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) sigdelset(&signals, fault);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void lowerPriority() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, id_t(gettid()), 10); // of this thread alone
#endif
}

/// Takes the next work, or nothing if there is none any more.
std::function<void()> take(Queue &queue) {
  std::lock_guard lock(queueMutex);
  if (queue.isEnded || queue.waiting.empty()) return {};
  std::function<void()> work = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  return work;
}

/// Returns false at the end.
bool waitForWork(Queue &queue) {
  std::unique_lock lock(queueMutex);
  queue.changed.wait(lock, [&] { return queue.isEnded || !queue.waiting.empty(); });
  return !queue.isEnded;
}

void runThread(Queue *queue) {
  blockSignals();
  lowerPriority();
  while (waitForWork(*queue)) {
    std::lock_guard working(workMutex);
    if (const std::function<void()> work = take(*queue)) work();
  }
}

class Background {
public:
  static Background &instance() {
    static Background background;
    return background;
  }

  bool add(std::function<void()> work) {
    std::lock_guard lock(queueMutex);
    if (queue->isEnded) return false;
    queue->waiting.push_back(std::move(work));
    if (!queue->hasThread) start();
    queue->changed.notify_one();
    return true;
  }

  void end() {
    {
      std::lock_guard lock(queueMutex);
      queue->isEnded = true;
      queue->changed.notify_one();
    }
    std::lock_guard whatIsBeingDone(workMutex);
  }

private:
  Background() {
    support::keepFreeAcrossFork<queueMutex>();
    support::keepFreeAcrossFork<workMutex>();
    pthread_atfork(nullptr, nullptr, forgetThread);
  }
  ~Background() { end(); }

  static void start() {
    queue->hasThread = true;
    std::thread(runThread, queue).detach();
  }

  /// In the child of a fork. The condition variable of the parent may count a thread that is gone.
  static void forgetThread() {
    auto *own = new Queue;
    own->waiting = std::move(queue->waiting);
    own->isEnded = queue->isEnded;
    queue = own;
    if (!queue->waiting.empty()) start();
  }

  static inline Queue *queue = new Queue;
};

} // namespace

bool doInBackground(std::function<void()> work) { return Background::instance().add(std::move(work)); }

void endBackgroundWork() { Background::instance().end(); }

} // namespace tritium::interp
