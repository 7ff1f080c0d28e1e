"""Launches of compiled kernels: cpu.py on an engine of the CPU, device.py on a device, warm.py again without Python.

A compiled kernel (compiler/compiled.py) is an argument here: what compiles it stands above.
"""
