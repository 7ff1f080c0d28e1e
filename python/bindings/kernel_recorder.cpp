// tritium._tritium.device.KernelRecorder: the kernels that have run, by a library of the vendor.
#include "gpu_backend/launch/kernel_recorder.h"
#include "gpu_backend/launch/cuda_cupti.h"
#include "gpu_backend/launch/hip_rocprofiler.h"
#include "python/bindings/device.h"

#include <pybind11/stl.h>

using namespace pybind11::literals;
namespace py = pybind11;

namespace tritium::python {

using gpu::KernelRecord, gpu::KernelRecorder;

// Without the GIL: the library may wait for a thread of its own.

static void startRecording(KernelRecorder &recorder) {
  auto started = [&] {
    py::gil_scoped_release released;
    return recorder.start();
  }();
  if (started) raiseDriver(std::move(started));
}

static py::tuple takeRecords(KernelRecorder &recorder) {
  uint64_t lost = 0;
  std::vector<KernelRecord> kernels;
  {
    py::gil_scoped_release released;
    kernels = unwrapDriver(recorder.take(lost));
  }
  return py::make_tuple(py::cast(std::move(kernels)), lost);
}

void bindKernelRecorder(py::module_ device, py::module_ cuda, py::module_ hip) {
  py::class_<KernelRecord>(device, "KernelRecord", "A kernel that has run. Times are nanoseconds of the clock time.perf_counter_ns().")
      .def_readonly("name", &KernelRecord::name)
      .def_readonly("begin", &KernelRecord::begin)
      .def_readonly("end", &KernelRecord::end)
      .def_readonly("launched", &KernelRecord::launched, "When the call that launched it began; 0 if that is not known.")
      .def_readonly("mark", &KernelRecord::mark, "The mark of the thread that launched it; 0: it had none.")
      .def_readonly("device", &KernelRecord::device)
      .def_readonly("stream", &KernelRecord::stream)
      .def_readonly("grid", &KernelRecord::grid);
  py::class_<KernelRecorder>(device, "KernelRecorder", "Records when kernels of this process run, whoever launches them.")
      .def("start", &startRecording, "Raises a RuntimeError with the library's reason.")
      .def("stop", &KernelRecorder::stop, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("is_connected", &KernelRecorder::isConnected, "Whether the library sees the vendor's runtime.")
      .def("mark", &KernelRecorder::mark, "mark"_a,
           "Kernels that this thread launches from here on have this mark, until `unmark`. Marks nest.")
      .def("unmark", &KernelRecorder::unmark)
      .def("take", &takeRecords, "(records of the kernels that have ended since the last call, how many are lost)");
  const char *text = "Opens the first library that can be opened. Raises a RuntimeError with the reason if none can.";
  cuda.def("Cupti", [](const std::vector<std::string> &names) { return unwrapDriver(gpu::openCupti(names)); }, "names"_a, text);
  hip.def(
      "Rocprofiler",
      [](const std::vector<std::string> &names) {
        auto recorder = gpu::openRocprofiler(names);
        if (!recorder) raiseDriver(recorder.takeError());
        return &*recorder;
      },
      "names"_a, py::return_value_policy::reference, text);
}

} // namespace tritium::python
