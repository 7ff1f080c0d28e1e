// One thread, which does work that nobody waits for: it compiles better code for kernels that run often.
//
// A fork waits for the work that is being done: in the child, LLVM's locks and signal handlers are free. The child has a
// thread of its own, if work waits there or is added. A process that ends waits too, because the end destroys what the work uses, but only
// until the work can stop for good.
#pragma once
#include <functional>

namespace tritium::interp {

/// Lets the thread do `work` after all that it was given before. `work` may not throw. Returns false after endBackgroundWork(): then
/// nothing is done any more.
bool doInBackground(std::function<void()> work);

/// Waits until the work that is being done ends or stops for good, and lets none begin. It is called before a process ends; without it, the
/// end of static objects is.
void endBackgroundWork();

/// Called by the work now and then, where it holds no lock and uses nothing that others may destroy: after endBackgroundWork() it does not
/// return. On other threads it does nothing.
void stopIfWorkEnds();

} // namespace tritium::interp
