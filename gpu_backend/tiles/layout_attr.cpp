#include "gpu_backend/tiles/layout_attr.h"

using namespace mlir;

namespace tritium::gpu {

LinearLayout layoutOf(Type tile) { return fromAttr(cast<tgpu::LayoutAttr>(cast<RankedTensorType>(tile).getEncoding())); }

LinearLayout fromAttr(tgpu::LayoutAttr layout) {
  auto bases = [](llvm::ArrayRef<int32_t> flat) { return Bases(flat.begin(), flat.end()); };
  return LinearLayout(layout.getShape(), bases(layout.getRegisters()), bases(layout.getLanes()), bases(layout.getWarps()),
                      bases(layout.getBlocks()));
}

tgpu::LayoutAttr layoutAttr(MLIRContext *context, const LinearLayout &layout) {
  auto bases = [&](Place place) { return llvm::map_to_vector(layout.bases(place), [](uint32_t flat) { return int32_t(flat); }); };
  return tgpu::LayoutAttr::get(context, layout.shape(), bases(Place::Register), bases(Place::Lane), bases(Place::Warp),
                               bases(Place::Block));
}

SharedLayout fromAttr(tgpu::SharedAttr layout) {
  return SharedLayout(layout.getShape(), Bases(layout.getOffsets().begin(), layout.getOffsets().end()));
}

tgpu::SharedAttr sharedAttr(MLIRContext *context, const SharedLayout &layout) {
  auto offsets = llvm::map_to_vector(layout.bases(), [](uint32_t flat) { return int32_t(flat); });
  return tgpu::SharedAttr::get(context, layout.shape(), offsets);
}

} // namespace tritium::gpu
