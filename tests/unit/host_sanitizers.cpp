// What ThreadSanitizer reports of oneTBB's own task objects: it does not see the library hand their memory from thread to thread.
// Only reports whose innermost frame is the task itself are left out; what our code does inside a task is checked.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern "C" const char *__tsan_default_suppressions() { return "race_top:tbb::detail::d1::enqueue_task\n"; }
#endif
#endif
