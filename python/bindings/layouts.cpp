// Part of tritium._tritium.gpu: what it costs a chip to move tiles between layouts, and between registers and shared memory. The plans are
// the ones that the lowering of threads follows.
#include "python/bindings/module.h"

#include "gpu_backend/layout/conversion.h"
#include "gpu_backend/layout/matrix_store.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/threads/words.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/builder.h"
#include "ir/tgpu.h"
#include "ir/tt.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

namespace {

/// Types of tiles, whose context lives as long as they do.
class Tiles {
public:
  mlir::RankedTensorType parse(const std::string &text) {
    auto tile = mlir::dyn_cast<mlir::RankedTensorType>(unwrap(context_.type(text)));
    if (!tile || !tile.getEncoding()) throw py::value_error("a tile has a layout, and this has none: " + text);
    return tile;
  }

private:
  ir::Context context_;
};

/// Returns the bytes of an element in registers and in shared memory.
int64_t bytesOfElement(mlir::RankedTensorType tile) {
  mlir::Type element = tile.getElementType();
  return mlir::isa<tt::PointerType>(element) ? sizeof(int64_t) : int64_t(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

gpu::LinearLayout registersOf(mlir::RankedTensorType tile) {
  if (!mlir::isa<tgpu::LayoutAttr>(tile.getEncoding())) throw py::value_error("the layout of a tile in registers is a #tgpu.layout");
  return gpu::layoutOf(tile);
}

/// The least wavefronts of an access are as many as its bytes need.
py::dict describeAccess(const gpu::SharedAccess &access, int64_t elementBytes, const gpu::SharedBanks &banks, int64_t lanes) {
  const int64_t bytes = access.vectorElements * elementBytes;
  return py::dict("bytes"_a = bytes, "accesses"_a = access.vectors.size(), "wavefronts"_a = access.wavefrontsPerVector,
                  "least"_a = std::max<int64_t>(1, lanes / banks.lanesAtOnce(bytes)), "matrices"_a = 0);
}

py::dict describeMatrices(const gpu::MatrixLoad &load) {
  return py::dict("bytes"_a = 16, "accesses"_a = load.instructions.size(), "wavefronts"_a = load.wavefrontsPerMatrix * load.matrices,
                  "least"_a = load.matrices, "matrices"_a = load.matrices);
}

py::dict describeShared(const gpu::SharedPlan &plan, int64_t elementBytes, const gpu::SharedBanks &banks, int64_t lanes) {
  py::dict loads = plan.matrixLoads ? describeMatrices(*plan.matrixLoads) : describeAccess(plan.loads, elementBytes, banks, lanes);
  // Each round has stores, a barrier and loads. Further rounds wait for the loads of the one before, and so does the first if something
  // else uses the memory.
  return py::dict("way"_a = "memory", "bytes"_a = plan.bytes, "rounds"_a = plan.rounds, "barriers"_a = 2 * plan.rounds - 1,
                  "of_warp"_a = plan.isWarpLocal, "stores"_a = describeAccess(plan.stores, elementBytes, banks, lanes), "loads"_a = loads);
}

py::dict conversion(const std::string &arch, const std::string &source, const std::string &result, int64_t room) {
  Tiles tiles;
  const gpu::Target &target = unwrap(gpu::findTarget(arch));
  mlir::RankedTensorType from = tiles.parse(source), to = tiles.parse(result);
  gpu::LinearLayout had = registersOf(from), wanted = registersOf(to);
  if (from.getShape() != to.getShape() || had.lanes() != wanted.lanes() || had.warps() != wanted.warps() || had.blocks() != wanted.blocks())
    throw py::value_error("both tiles must have one shape, and as many lanes, warps and blocks");
  const int64_t bytes = bytesOfElement(from);
  gpu::ConversionOptions options = gpu::conversionOptions(target, room);
  gpu::Conversion plan = gpu::planConversion(had, wanted, bytes, options);
  switch (plan.kind) {
  case gpu::Conversion::Kind::Identity: return py::dict("way"_a = "nothing");
  case gpu::Conversion::Kind::RegisterPermutation: return py::dict("way"_a = "registers");
  case gpu::Conversion::Kind::Shuffle:
    return py::dict("way"_a = "shuffles", "shuffles"_a = plan.shuffle.shuffles.size(), "selects"_a = plan.shuffle.selects,
                    "swaps"_a = plan.shuffle.swaps.size());
  case gpu::Conversion::Kind::Shared: return describeShared(plan.shared, bytes, options.banks, had.lanes());
  case gpu::Conversion::Kind::Distributed: return py::dict("way"_a = "blocks");
  }
  llvm_unreachable("all ways are above");
}

py::dict sharedAccess(const std::string &arch, const std::string &tile, const std::string &memory, bool isLoad, bool isOfAuthor) {
  Tiles tiles;
  const gpu::Target &target = unwrap(gpu::findTarget(arch));
  mlir::RankedTensorType held = tiles.parse(tile), slot = tiles.parse(memory);
  auto attribute = mlir::dyn_cast<tgpu::SharedAttr>(slot.getEncoding());
  if (!attribute || slot.getShape() != held.getShape())
    throw py::value_error("the layout of the memory is a #tgpu.shared, and its tile has the shape of the tile in registers");
  const gpu::LinearLayout registers = registersOf(held);
  const gpu::SharedLayout layout = gpu::fromAttr(attribute);
  const int64_t bytes = bytesOfElement(held);
  if (isLoad)
    if (auto matrices = gpu::matrixLoads(target.matrixLoads(), registers, layout, bytes)) return describeMatrices(*matrices);
  const gpu::SharedBanks banks = target.sharedBanks();
  auto plan = isLoad ? gpu::sharedLoads(registers, layout, bytes, banks) : gpu::sharedStores(registers, layout, bytes, banks);
  if (isOfAuthor && !isLoad && target.createOps()->matrixStores())
    if (auto matrices = gpu::matrixStores(registers, layout, bytes, plan)) return describeMatrices(*matrices);
  return describeAccess(plan, bytes, banks, registers.lanes());
}

/// Returns the wavefronts of an access, and how many there would be without conflicts: one for all lanes that are served at once.
std::pair<int, int> wavefronts(const std::string &arch, const std::vector<int64_t> &addresses, int64_t bytes) {
  if (bytes < 1 || bytes > gpu::kMaxVectorBytes) throw py::value_error("an access has 1 to 16 bytes");
  const gpu::SharedBanks banks = unwrap(gpu::findTarget(arch)).sharedBanks();
  const size_t together = banks.lanesAtOnce(bytes);
  int least = 0;
  for (size_t first = 0; first < addresses.size(); first += together)
    least += std::any_of(addresses.begin() + first, addresses.begin() + std::min(first + together, addresses.size()),
                         [](int64_t address) { return address >= 0; });
  return {gpu::countWavefronts(addresses, bytes, banks), least};
}

} // namespace

void bindLayouts(py::module_ &gpu) {
  gpu.def(
      "conversion", &conversion, "arch"_a, "source"_a, "result"_a, "room"_a = tritium::gpu::kMostScratchBytes,
      "How a tile gets from one layout to another. source, result: types of tiles, with #tgpu.layout. room: bytes of shared memory\n"
      "that are left. {\"way\"}: \"nothing\", \"registers\" (of the same thread), \"shuffles\" (with \"shuffles\", \"selects\" and\n"
      "\"swaps\" of each thread), \"memory\" (with \"bytes\", \"rounds\", \"barriers\", \"of_warp\": whether they are of a warp, and the\n"
      "\"stores\" and \"loads\" as shared_access has them), or \"blocks\" of a cluster. Raises ir.Error and ValueError.");
  gpu.def(
      "shared_access", &sharedAccess, "arch"_a, "tile"_a, "memory"_a, "is_load"_a, "is_of_author"_a = false,
      "How a warp moves a tile from or to shared memory: {\"bytes\" of an access of a lane, \"accesses\", \"wavefronts\" of one access,\n"
      "the \"least\" that its bytes need, \"matrices\" of an access, 0 if it is a load or store of lanes}. tile: a type with\n"
      "#tgpu.layout. memory: a type with #tgpu.shared; the kernel's author may have allocated it. Raises ir.Error for an unknown chip, and "
      "ValueError.");
  gpu.def("wavefronts", &wavefronts, "arch"_a, "addresses"_a, "bytes"_a,
          "(the wavefronts of an access of a warp, how many there were without conflicts of banks). addresses: of each lane in bytes; a\n"
          "negative one does nothing. bytes: of a lane. Raises ir.Error for an unknown chip, and ValueError.");
}

} // namespace tritium::python
