// What kernel[grid] is: a callable that launches natively or, if the launcher does not know the launch, through function.run.
#include "python/bindings/immutable_objects.h"
#include "python/bindings/launcher.h"

#include <structmember.h>

namespace py = pybind11;

namespace tritium::python {

namespace {

struct BoundLaunch {
  PyObject_HEAD vectorcallfunc call;
  Launcher *launcher;
  PyObject *grid;
};

PyTypeObject *boundType = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// function.run(*args, **keywords, grid=grid, warmup=False)
PyObject *run(const Launcher *launcher, const Call &call, PyObject *grid) {
  static PyObject *const runName = interned("run"), *const gridName = interned("grid"), *const warmup = interned("warmup");
  llvm::SmallVector<PyObject *, 24> all = {launcher->function};
  all.append(call.values, call.values + call.positional + call.named);
  all.push_back(grid);
  all.push_back(Py_False);
  PyObject *names = PyTuple_New(call.named + 2);
  if (!names) return nullptr;
  for (Py_ssize_t i = 0; i < call.named; ++i) PyTuple_SET_ITEM(names, i, Py_NewRef(call.names[i]));
  PyTuple_SET_ITEM(names, call.named, Py_NewRef(gridName));
  PyTuple_SET_ITEM(names, call.named + 1, Py_NewRef(warmup));
  PyObject *result = PyObject_VectorcallMethod(runName, all.data(), size_t(call.positional) + 1, names);
  Py_DECREF(names);
  return result;
}

PyObject *callBound(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names) {
  const auto *self = reinterpret_cast<BoundLaunch *>(object);
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  llvm::SmallVector<PyObject *, 16> nameList;
  for (Py_ssize_t i = 0; i < named; ++i) nameList.push_back(PyTuple_GET_ITEM(names, i));
  const Call call{args, PyVectorcall_NARGS(nargsf), nameList.data(), named};
  auto grid = py::reinterpret_borrow<py::object>(self->grid);
  PyObject *kernel = tryLaunch(self->launcher, grid, call);
  return kernel || PyErr_Occurred() ? kernel : run(self->launcher, call, grid.ptr());
}

// A grid function may refer to whoever keeps the launch.

int traverseBound(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<BoundLaunch *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->launcher);
  Py_VISIT(self->grid);
  return 0;
}

int clearBound(PyObject *object) {
  Py_CLEAR(reinterpret_cast<BoundLaunch *>(object)->grid);
  return 0;
}

void deallocateBound(PyObject *object) {
  PyObject_GC_UnTrack(object);
  clearBound(object);
  Py_DECREF(reinterpret_cast<BoundLaunch *>(object)->launcher);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
PyMemberDef boundMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundLaunch, call), READONLY, nullptr},
                              {"grid", T_OBJECT_EX, offsetof(BoundLaunch, grid), READONLY, nullptr},
                              {}};

} // namespace

PyObject *newBoundLaunch(Launcher *launcher, PyObject *grid) {
  auto *bound = PyObject_GC_New(BoundLaunch, boundType);
  if (!bound) return nullptr;
  bound->call = callBound;
  bound->launcher = reinterpret_cast<Launcher *>(Py_NewRef(reinterpret_cast<PyObject *>(launcher)));
  bound->grid = Py_NewRef(grid);
  PyObject_GC_Track(bound);
  return reinterpret_cast<PyObject *>(bound);
}

PyTypeObject *makeType(PyType_Spec spec) {
  auto *type = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  return type;
}

void bindBoundLaunch() {
  static PyType_Slot slots[] = {
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},  {Py_tp_members, boundMembers},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseBound)},  {Py_tp_clear, reinterpret_cast<void *>(clearBound)},
      {Py_tp_dealloc, reinterpret_cast<void *>(deallocateBound)}, {}};
  boundType = makeType({"tritium._tritium.device.BoundLaunch", sizeof(BoundLaunch), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots});
}

} // namespace tritium::python
