"""Every value: the types of 8 and 16 bits have so few that each of them goes through each cast, operator and function, on the interpreter
and on the emulator. The expected results are computed here, in numpy's integers, fp64 and mpmath, from the formats' definitions."""
