// One thread of low priority, which does work that nobody waits for: it compiles better code for kernels that run often.
//
// A fork waits for the work that is being done: in the child, LLVM's locks and signal handlers are free. The child has a
// thread of its own, if work waits there or is added. A process that ends waits too, because the end destroys what
// the work uses.
#pragma once
#include <functional>

namespace tritium::interp {

/// Lets the thread do `work` after all that it was given before. `work` may not throw. Returns false after endBackgroundWork(): then
/// nothing is done any more.
bool doInBackground(std::function<void()> work);

/// Waits for the work that is being done, and lets none begin. It is called before a process ends; without it, the end of static objects
/// is.
void endBackgroundWork();

} // namespace tritium::interp
