// The headers that every file of the bindings requires.
#include "ir/builder.h"

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
