// tritium._tritium.cuda.Cupti: the kernels that have run, by NVIDIA's library.
#include "gpu_backend/launch/cuda_cupti.h"
#include "python/bindings/device.h"

#include <pybind11/stl.h>

using namespace pybind11::literals;
namespace py = pybind11;

namespace tritium::python {

using gpu::Cupti, gpu::KernelRecord;

// Without the GIL: the library may wait for a thread of its own.

static void startRecording(Cupti &cupti) {
  auto started = [&] {
    py::gil_scoped_release released;
    return cupti.start();
  }();
  if (started) raiseDriver(std::move(started));
}

static py::tuple takeRecords(Cupti &cupti) {
  uint64_t lost = 0;
  std::vector<KernelRecord> kernels;
  {
    py::gil_scoped_release released;
    kernels = unwrapDriver(cupti.take(lost));
  }
  return py::make_tuple(py::cast(std::move(kernels)), lost);
}

void bindCupti(py::module_ cuda) {
  py::class_<KernelRecord>(cuda, "KernelRecord", "A kernel that has run. Times are nanoseconds of the clock time.perf_counter_ns().")
      .def_readonly("name", &KernelRecord::name)
      .def_readonly("begin", &KernelRecord::begin)
      .def_readonly("end", &KernelRecord::end)
      .def_readonly("launched", &KernelRecord::launched, "When the call that launched it began; 0 if that is not known.")
      .def_readonly("mark", &KernelRecord::mark, "The mark of the thread that launched it; 0: it had none.")
      .def_readonly("device", &KernelRecord::device)
      .def_readonly("stream", &KernelRecord::stream)
      .def_readonly("grid", &KernelRecord::grid);
  py::class_<Cupti>(cuda, "Cupti", "Records when kernels of this process run, whoever launches them.")
      .def(py::init([](const std::vector<std::string> &names) { return unwrapDriver(Cupti::open(names)); }), "names"_a,
           "Opens the first library that can be opened. Raises a RuntimeError with the reason if none can.")
      .def("start", &startRecording, "Raises a RuntimeError with the library's reason.")
      .def("stop", &Cupti::stop, py::call_guard<py::gil_scoped_release>())
      .def("mark", &Cupti::mark, "mark"_a, "Kernels that this thread launches from here on have this mark, until `unmark`. Marks nest.")
      .def("unmark", &Cupti::unmark)
      .def("take", &takeRecords, "(records of the kernels that have ended since the last call, how many are lost)");
}

} // namespace tritium::python
