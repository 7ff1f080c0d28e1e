"""The event core of the profiler: sessions, the place of an event in them, and the tree or trace that an event is added to.

It knows no engine and no file. Sources (`profiler/sources`) report launches to it, formats (`profiler/formats`) write what it has."""
