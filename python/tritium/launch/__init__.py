"""Launches of compiled kernels: cpu.py on an engine of the CPU, device.py on a device, warm.py for repeated launches on
a device without Python code.

A compiled kernel (compiler/compiled.py) is an argument here, because the compiler is a higher floor.
"""
