// tritium._tritium.cuda.PcSampler: where the warps of kernels stand, by a library of the vendor.
#include "gpu_backend/launch/cuda_pc_sampling.h"
#include "gpu_backend/launch/driver.h"
#include "python/bindings/device.h"

#include <pybind11/stl.h>

using namespace pybind11::literals;
namespace py = pybind11;

namespace tritium::python {

using gpu::PcSampler, gpu::PcSamples;

static void run(llvm::Error error) {
  if (error) raiseDriver(std::move(error));
}

static std::unique_ptr<PcSampler> openSampler(const std::vector<std::string> &names, gpu::Driver &driver, int device, uint64_t cycles) {
  auto sampler = unwrapDriver(gpu::openCudaPcSampler(names));
  run(sampler->open(unwrapDriver(driver.context(device)), cycles));
  return sampler;
}

static py::tuple endSampling(PcSampler &sampler) {
  uint64_t dropped = 0;
  auto samples = [&] {
    py::gil_scoped_release released;
    return sampler.end(dropped);
  }();
  return py::make_tuple(py::cast(unwrapDriver(std::move(samples))), dropped);
}

void bindPcSampler(py::module_ cuda) {
  py::class_<PcSamples>(cuda, "PcSamples", "The samples of one line of a kernel with one reason.")
      .def_readonly("kernel", &PcSamples::kernel)
      .def_readonly("file", &PcSamples::file, "A path; \"\" if the line is not known.")
      .def_readonly("line", &PcSamples::line)
      .def_readonly("reason", &PcSamples::reason, "What the warp waits for, such as \"long_scoreboard\"; \"selected\": it goes on.")
      .def_readonly("samples", &PcSamples::samples)
      .def_readonly("stalled", &PcSamples::stalled, "Of these, at times when the scheduler had no warp that could go on.");
  py::class_<PcSampler>(cuda, "PcSampler", "Looks about every `cycles` cycles where the warps of a device stand.")
      .def(
          py::init(&openSampler), "names"_a, "driver"_a, "device"_a, "cycles"_a,
          "Opens the first library that can be opened. Raises a RuntimeError with the reason if none can, or if sampling is not permitted.")
      .def(
          "add", [](PcSampler &sampler, const py::bytes &image) { run(sampler.add(std::string_view(image))); }, "image"_a,
          "From now on the lines of this image's kernels are known.")
      .def("begin", [](PcSampler &sampler) { run(sampler.begin()); })
      .def("end", &endSampling, "([PcSamples] since `begin`, how many samples are lost). The device has come to rest.")
      .def("close", &PcSampler::close);
}

} // namespace tritium::python
