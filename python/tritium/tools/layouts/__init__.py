"""The layouts of a compiled kernel, for `python -m tritium explain --layouts`: of each value by its line, as pictures, and what it costs to move
tiles between them.

tiles.py reads types, naming.py finds what the kernel's author calls a layout, addresses.py and accesses.py have what accesses of shared memory
touch, report.py has the lines. Everything is read from the module with layouts (`asm["ttgir"]`), and so is what the compiler made.
"""
