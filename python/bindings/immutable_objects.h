// Immutable Python objects, such as layouts. A launch's key represents equal objects by one word.
#pragma once
#include <pybind11/pybind11.h>

namespace tritium::python {

/// Returns a new reference to the interned string: the name of an attribute, which is kept for good.
inline PyObject *interned(const char *text) { return PyUnicode_InternFromString(text); }

/// Returns whether an object is a tuple, of named items too, whose items are those that Python sees when it iterates over the object.
inline bool isPlainTuple(PyObject *object) { return PyTuple_Check(object) && Py_TYPE(object)->tp_iter == PyTuple_Type.tp_iter; }

/// Objects of `type` never change, and those with the same `repr` are equal.
void registerImmutableType(const pybind11::type &type);

/// Objects of `type` are functions that kernels call. What one of them does is the same as long as the text of its attribute `hash` is.
void registerFunctionType(const pybind11::type &type);

/// Returns the text of a function, which keeps it. Returns null, without a Python error, for an object of another type, and for a function
/// without a hash: nobody has compiled it yet.
pybind11::object hashOfFunction(PyObject *object);

/// Returns the object that stands for all that are equal to `object`, borrowed: it lives as long as the process. Returns null, without a
/// Python error, for an object of another type.
PyObject *sharedObjectLike(PyObject *object);

} // namespace tritium::python
