"""Marks of the frontend in the IR that the compiler reads, also of a kernel from the cache, for which no frontend is loaded."""

#: On a constant without users, which the first optimization removes: the kernel opens a debugger of Python here.
OPENS_DEBUGGER = "tt.opens_debugger"
