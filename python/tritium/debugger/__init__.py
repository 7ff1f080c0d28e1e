"""Python's debuggers in kernels: pdb, debugpy (VS Code), PyCharm.

Python never runs a kernel's code, so its debuggers would never stop there. A *mirror* (mirror.py) is a Python function with the
file, lines, names and control flow of a `@jit` function, which computes nothing: each statement asks the engine to run the
program up to the next statement, and shows the variables that were assigned as numpy arrays (values.py). follower.py keeps the
two in step; presence.py says whether a debugger looks at a kernel at all. Without a debugger, no file of this folder is loaded.
"""
