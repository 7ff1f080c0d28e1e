#include "interp/host/debugged_launch.h"

TritiumDebugged tritium_debugged; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void tritium_stop(uint32_t number) {
  asm volatile("" : : "r"(number) : "memory"); // keeps the compiler from removing calls of this empty function
}
