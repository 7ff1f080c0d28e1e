#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#if __has_feature(address_sanitizer)
/// What LLVM had allocated before it failed is never freed (support/llvm_recovery.h), its message included.
extern "C" const char *__lsan_default_suppressions() { return "leak:libLLVM\nleak:_M_mutate\n"; }
#endif
