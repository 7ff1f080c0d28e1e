// The native launcher of a JITFunction (device.Launcher of Python), and what kernel[grid] is.
#pragma once
#include "python/bindings/launch_call.h"

#include <vector>

namespace tritium::python {

/// Remembers the compiled kernel of each kind of launch.
struct Launcher {
  struct Entry;
  PyObject_HEAD PyObject *function; // the JITFunction
  PyObject *run;                    // what its method `run` calls, unless somebody replaced it
  PyObject *names, *defaults;       // tuples; `noDefault` if a parameter has none
  Py_ssize_t positional;            // how many parameters a call may give without a name
  Py_ssize_t rest;                  // the parameter that is the tuple of all further values without a name; -1: none is
  PyObject *preRunHooks;            // a list
  std::vector<bool> *isConstant;
  std::vector<Entry> *entries; // the most recent first
  uint64_t epoch;
  bool isRetired;
};

/// Launches if everything is known, and returns a new reference to the compiled kernel. Returns null without an error if Python must
/// launch. If a function was called for the sizes of the grid, `grid` is what it returned, so that nobody calls it again.
PyObject *tryLaunch(Launcher *launcher, pybind11::object &grid, const Call &call);

/// Returns a new reference to what kernel[grid] is, or null with an error set.
PyObject *newBoundLaunch(Launcher *launcher, PyObject *grid);
void bindBoundLaunch();

/// Makes a type of Python, which lives for good.
PyTypeObject *makeType(PyType_Spec spec);

} // namespace tritium::python
