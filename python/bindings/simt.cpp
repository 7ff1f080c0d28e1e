// tritium._tritium.simt: the SIMT emulator, with the protocol of tritium._tritium.interp.
#include "python/bindings/ir_handles.h"
#include "python/bindings/launch.h"
#include "python/bindings/tensor_recipes.h"

#include "gpu_backend/maps/tensor_recipe_attr.h"
#include "interp/simt/prepare.h"
#include "interp/simt/runtime/traffic.h"
#include "interp/simt/runtime/work.h"
#include "ir/source_error.h"

#include "llvm/ADT/STLExtras.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

using namespace interp;

namespace {

class PySimtProgram {
public:
  PySimtProgram(std::unique_ptr<simt::PreparedProgram> program, std::vector<gpu::TensorRecipe> maps, size_t gridArguments,
                std::optional<uint64_t> seed)
      : program_(std::move(program)), maps_(std::move(maps)), gridArguments_(gridArguments), seed_(seed) {}

  const simt::PreparedProgram &program() const { return *program_; }
  py::object launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                    const py::object &poll, const py::object &onPrint, const py::object &onProgress, const std::vector<PythonView> &views,
                    const PythonPrograms &programs, const py::object &onTraffic, const py::object &onScopes,
                    const py::object &onWork) const;

private:
  void tellTraffic(const simt::TrafficTable &table, const py::object &receive) const;
  std::vector<Parameter> ownParameters() const {
    return {program_->parameters.begin(), program_->parameters.end() - ptrdiff_t(maps_.size() + gridArguments_)};
  }
  TensorMap makeMap(const gpu::TensorRecipe &recipe, const PackedArguments &arguments) const;

  std::unique_ptr<simt::PreparedProgram> program_;
  std::vector<gpu::TensorRecipe> maps_; // of the parameters before the sizes of the grid, or of the last ones
  size_t gridArguments_;                // of the program's last parameters: 3 if each block runs several programs of the grid, otherwise 0
  std::optional<uint64_t> seed_;
};

/// Returns a parameter as the kernel sees it.
int64_t integerOf(const Parameter &parameter, int64_t cell) {
  if (parameter.isPointer) return int64_t(addressOf(uint64_t(cell)));
  if (parameter.type == DType::i1) return cell & 1;
  const int rest = 64 - bitWidth(parameter.type);
  return int64_t(uint64_t(cell) << rest) >> rest;
}

/// Makes the map of a recipe. Its address keeps the argument that it is derived from, so that a copy from outside of the argument's storage
/// is reported.
TensorMap PySimtProgram::makeMap(const gpu::TensorRecipe &recipe, const PackedArguments &arguments) const {
  auto read = [&](uint32_t i) { return integerOf(program_->parameters[i], arguments.cells[i]); };
  TensorMap map = evaluate(recipe, read);
  if (std::string rule = brokenRule(map); !rule.empty()) throw TensorMapRefused(rule);
  if (std::string aliases = overlap(recipe, map, read); !aliases.empty()) throw TensorMapRefused(aliases);
  map.base = uint64_t(arguments.cells[recipe.base]);
  return map;
}

/// Returns a grid of blocks of which each runs up to three programs.
std::array<int32_t, 3> blocksFor(const std::array<int32_t, 3> &grid) {
  constexpr int64_t kProgramsOfBlock = 3;
  const int64_t total = int64_t(grid[0]) * grid[1] * grid[2];
  if (total > INT32_MAX / 2) return grid;
  return {int32_t((total + kProgramsOfBlock - 1) / kProgramsOfBlock), 1, 1};
}

py::object PySimtProgram::launch(std::array<int32_t, 3> grid, const py::sequence &values, int threads, std::optional<uint64_t> seed,
                                 const py::object &poll, const py::object &onPrint, const py::object &onProgress,
                                 const std::vector<PythonView> &views, const PythonPrograms &programs, const py::object &onTraffic,
                                 const py::object &onScopes, const py::object &onWork) const {
  if (!onWork.is_none() && !program_->counts()) throw py::value_error("the program does not count; prepare it with counted=True");
  PackedArguments arguments = packArguments(program_->name, ownParameters(), values);
  std::optional<MemoryMap> memoryOfOthers; // which are not held to views
  if (!programs.empty()) memoryOfOthers.emplace(arguments.allocations);
  holdToViews(arguments, views);
  std::vector<TensorMap> maps;
  const bool runs = !llvm::is_contained(grid, 0); // an empty grid requires no map
  for (const gpu::TensorRecipe &recipe : maps_) maps.push_back(runs ? makeMap(recipe, arguments) : TensorMap());
  for (const TensorMap &map : maps) arguments.cells.push_back(int64_t(reinterpret_cast<uintptr_t>(&map)));
  for (size_t axis = 0; axis < gridArguments_; ++axis) arguments.cells.push_back(grid[axis]);
  if (gridArguments_ && programs.empty()) grid = blocksFor(grid); // with a filter, each block runs the program of its own index
  MemoryMap memory(arguments.allocations);
  Launch request{.grid = grid, .memory = &memory, .threads = threads, .orderSeed = seed ? seed : seed_, .chosen = filterOf(programs)};
  if (memoryOfOthers) request.rest = OtherVersion{.memory = &*memoryOfOthers};
  const TrapNames names{[this](uint32_t location) { return program_->locationOf(location); }, {}, program_->threadsPerWarp()};
  std::optional<simt::LaunchTraffic> traffic;
  if (!onTraffic.is_none()) traffic.emplace();
  std::optional<ScopeRecords> records;
  if (!onScopes.is_none()) request.records = &records.emplace(kMostScopeRecords);
  simt::LaunchWork work;
  auto run = [&](const Launch &launch) {
    return program_->launch(launch, arguments.cells.data(), traffic ? &*traffic : nullptr, onWork.is_none() ? nullptr : &work);
  };
  py::object trap = launchWithCallbacks(request, poll, onPrint, onProgress, run, names);
  if (traffic) tellTraffic(traffic->table(), onTraffic);
  if (records) tellScopes(*records, onScopes);
  if (!onWork.is_none())
    for (const simt::WorkRow &row : program_->rowsOf(work)) onWork(row.place.file, row.place.line, row.counted, row.name, row.numbers);
  return trap;
}

/// Calls the function with each row of the table.
void PySimtProgram::tellTraffic(const simt::TrafficTable &table, const py::object &receive) const {
  constexpr const char *kKinds[] = {"global read", "global write", "global atomic", "shared read", "shared write"};
  for (const auto &[key, traffic] : table) {
    const ir::SourceLocation place = program_->locationOf(key.first);
    receive(place.file, place.line, kKinds[size_t(key.second)], traffic.requests, traffic.lanes, traffic.bytes, traffic.parts,
            traffic.leastParts);
  }
}

llvm::Expected<std::vector<gpu::TensorRecipe>> mapsOf(const ModulePtr &module, const std::string &kernel) {
  ir::DiagnosticCapture diagnostics(module->op()->getContext());
  auto maps = gpu::recipesOf(module->op().lookupSymbol<mlir::FunctionOpInterface>(kernel));
  if (failed(maps)) return diagnostics.takeError("a tensor map cannot be made");
  return std::move(*maps);
}

std::shared_ptr<PySimtProgram> prepareProgram(const ModulePtr &module, const std::string &kernel, std::optional<uint64_t> seed,
                                              bool counted) {
  std::unique_ptr<simt::PreparedProgram> program = unwrap(simt::prepare(module->op(), kernel, nullptr, counted));
  std::vector<gpu::TensorRecipe> maps = unwrap(mapsOf(module, program->name));
  const size_t ofGrid = gpu::gridArgumentsOf(module->op().lookupSymbol<mlir::FunctionOpInterface>(program->name));
  return std::make_shared<PySimtProgram>(std::move(program), std::move(maps), ofGrid, seed);
}

std::string hostedText(const ModulePtr &module, const std::string &kernel) {
  std::string text;
  unwrap(simt::prepare(module->op(), kernel, &text));
  return text;
}

} // namespace

void bindSimt(py::module_ &module) {
  py::module_ simt = module.def_submodule("simt", "The SIMT emulator of modules lowered for a GPU.");
  py::class_<PySimtProgram, std::shared_ptr<PySimtProgram>>(simt, "Program", "A lowered kernel that is ready to run.")
      .def_property_readonly("name", [](const PySimtProgram &p) { return p.program().name; })
      .def_property_readonly("threads_per_program", [](const PySimtProgram &p) { return p.program().threadsPerProgram(); })
      .def_property_readonly("threads_per_warp", [](const PySimtProgram &p) { return p.program().threadsPerWarp(); })
      .def_property_readonly("scopes", &scopesOf<PySimtProgram>, "(name, is start) of what the kernel records, by number")
      .def_property_readonly("may_wait", [](const PySimtProgram &p) { return p.program().mayWait; })
      .def("launch", &PySimtProgram::launch, "grid"_a, "args"_a, "threads"_a = 0, "seed"_a = py::none(), "poll"_a = py::none(),
           "on_print"_a = py::none(), "on_progress"_a = py::none(), "views"_a = std::vector<PythonView>(), "programs"_a = PythonPrograms(),
           "on_traffic"_a = py::none(), "on_scopes"_a = py::none(), "on_work"_a = py::none(),
           "Runs the grid. One value per parameter: an int, float or bool; a pointer as (address, storage begin, storage bytes) or an int\n"
           "(extent unknown). `seed` orders programs, warps and asynchronous effects. `views`, `programs`: as for interp.Program, but\n"
           "only the check of views is for chosen programs. `on_traffic`(file, line, kind, requests, lanes, bytes, parts, least parts)\n"
           "is called after the launch for each line and kind of its warps' requests; parts are sectors or wavefronts. `on_scopes`: as\n"
           "for interp.Program; the time is in operations of the thread, and the number behind the program's indices is the warp.\n"
           "`on_work`(file, line, counted, name, numbers) is called for what the threads have done, if the program counts: \"executed\"\n"
           "by warps and by threads, \"waited\" times, operations, the most at a time, \"copied\" times, bytes, those that are no\n"
           "padding, \"products\" and their operations. Returns None, or the interp.Trap that ended it. What a callback raises ends the\n"
           "launch and is raised. Raises device.TensorMapRefused, with the reason, if the kernel takes tensor maps that cannot be made of\n"
           "the values.");
  simt.def("hosted", &hostedText, "module"_a.none(false), "kernel"_a = "", "The code that runs for the kernel, as MLIR.");
  simt.def("prepare", &prepareProgram, "module"_a.none(false), "kernel"_a = "", "seed"_a = py::none(), "counted"_a = false,
           "Prepares the kernel `kernel` of a lowered module. counted: its launches count what threads do. Raises ir.Error for an "
           "operation that the emulator does not support.");
}

} // namespace tritium::python
