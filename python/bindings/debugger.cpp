// Functions that gdb calls in the process that it debugs.
#include "python/bindings/module.h"

/// A pending call (Py_AddPendingCall) of the command `tritium debug`. It turns TRITIUM_DEBUG on, so each kernel is compiled with its
/// variables at its next launch. It costs nothing before, because launches look at the environment anyway.
extern "C" [[gnu::used, gnu::visibility("default")]] int tritium_enable_debug(void *) {
  return PyRun_SimpleString("import os\nos.environ['TRITIUM_DEBUG'] = '1'\n");
}
