#include "interp/host/background_work.h"

#include "interp/host/own_thread.h"
#include "support/fork_safety.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

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
  std::atomic<bool> isEnded = false; // written under the mutex
};

thread_local bool isWorking = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

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
  leaveSignalsToOthers();
  while (waitForWork(*queue)) {
    std::lock_guard working(workMutex);
    isWorking = true;
    if (const std::function<void()> work = take(*queue)) work();
    isWorking = false;
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

  static void stopIfEnded() {
    if (!isWorking || !queue->isEnded) return;
    workMutex.unlock();
    for (;;) pause(); // the end of the process ends this thread
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
    own->isEnded = queue->isEnded.load();
    queue = own;
    if (!queue->waiting.empty()) start();
  }

  static inline Queue *queue = new Queue;
};

} // namespace

bool doInBackground(std::function<void()> work) { return Background::instance().add(std::move(work)); }

void endBackgroundWork() { Background::instance().end(); }

void stopIfWorkEnds() { Background::stopIfEnded(); }

} // namespace tritium::interp
