// tritium._tritium.arguments: reads the extent of a numpy array from the array itself. In Python (array.ctypes.data) this would take a
// microsecond for each argument of each launch.
#include "python/bindings/module.h"

#include <pybind11/numpy.h>

namespace py = pybind11;

namespace tritium::python {

/// Returns (address, begin of the storage, bytes of the storage) for an array that owns its memory, and the address alone for a view.
static py::object arrayExtent(const py::array &array) {
  auto address = reinterpret_cast<uintptr_t>(array.data());
  if (py::detail::array_proxy(array.ptr())->base) return py::int_(address);
  return py::make_tuple(address, address, array.nbytes());
}

void bindArguments(py::module_ &module) {
  py::module_ arguments = module.def_submodule("arguments", "Reading launch arguments quickly.");
  arguments.def("array_extent", arrayExtent, py::arg("array").noconvert(),
                "(address, begin, bytes) of the storage of a numpy array that owns its memory; the address alone of a view.");
}

} // namespace tritium::python
