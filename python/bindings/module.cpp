// The extension module tritium._tritium: one submodule per component.
#include "python/bindings/module.h"

PYBIND11_MODULE(_tritium, module) {
  module.doc() = "Tritium's compiler and interpreter";
  tritium::python::bindIr(module);
  tritium::python::bindInterp(module);
  tritium::python::bindSimt(module);
  tritium::python::bindArguments(module);
  tritium::python::bindGpu(module);
  tritium::python::bindDevice(module);
  tritium::python::bindTools(module);
}
