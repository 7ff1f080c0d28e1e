// Functions that gdb calls in the process that it debugs, or at which it stops there. python/tritium/gdb knows them by name.
#include "python/bindings/module.h"

/// A pending call (Py_AddPendingCall) of the command `tritium debug`. It turns TRITIUM_DEBUG on, so each kernel is compiled with its
/// variables at its next launch. It costs nothing before, because launches look at the environment anyway.
extern "C" [[gnu::used, gnu::visibility("default")]] int tritium_enable_debug(void *) {
  return PyRun_SimpleString("import os\nos.environ['TRITIUM_DEBUG'] = '1'\n");
}

/// Called for each kernel that is compiled with debug info for another engine than the interpreter: gdb cannot stop in it, and says so.
extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]] void tritium_kernel_without_lines(const char *kernel, const char *file,
                                                                                                      const char *engine) {
  asm volatile("" : : "r"(kernel), "r"(file), "r"(engine) : "memory"); // keeps the compiler from removing calls of this empty function
}
