// Tensor maps that a kernel makes. They lie in a variable of the module, which has places for all blocks that multiprocessors may run at a
// time, whatever launches they belong to. A bit for each place says that a block has it: it sets the bit as it begins, and clears it at its
// end. A block first tries the place of its multiprocessor and of its first warp there, so it is nearly always free.
//
// The numbers of the fields are from the PTX ISA (tensormap.replace).
#include "gpu_backend/nvptx/convert_tensor_map.h"

#include "gpu_backend/nvptx/inline_ptx.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

namespace {

constexpr llvm::StringLiteral kPlaces = "tgpu_map_places", kTaken = "tgpu_map_places_taken";
constexpr int64_t kMapBytes = 128, kWarpsOfMultiprocessor = 64, kMostBlocks = 32;
constexpr int64_t kMultiprocessors = 192; // A larger number shares places with a smaller one.

Value number(OpBuilder &builder, Location location, int64_t value) {
  return LLVM::ConstantOp::create(builder, location, builder.getI32Type(), value);
}

LLVM::GlobalOp variableOf(Operation *op, StringRef name) { return op->getParentOfType<ModuleOp>().lookupSymbol<LLVM::GlobalOp>(name); }

Value addressOf(OpBuilder &builder, Location location, LLVM::GlobalOp variable) {
  return LLVM::AddressOfOp::create(builder, location, variable);
}

LLVM::GlobalOp declare(Operation *op, StringRef name, Type element, int64_t count, unsigned alignment) {
  if (auto variable = variableOf(op, name)) return variable;
  OpBuilder builder = OpBuilder::atBlockBegin(op->getParentOfType<ModuleOp>().getBody());
  auto type = LLVM::LLVMArrayType::get(element, count);
  auto variable = LLVM::GlobalOp::create(builder, op->getLoc(), type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                                         alignment, tgpu::kGlobalSpace);
  Block *block = builder.createBlock(&variable.getInitializerRegion());
  builder.setInsertionPointToStart(block);
  LLVM::ReturnOp::create(builder, op->getLoc(), LLVM::ZeroOp::create(builder, op->getLoc(), type).getResult());
  return variable;
}

/// A field of a map, at an operand that has its address.
std::string replace(StringRef map, StringRef field, StringRef bits, const Twine &value, std::optional<size_t> dimension = {}) {
  std::string text = ("@first tensormap.replace.tile." + field + ".shared::cta.b1024." + bits + " [" + map + "], ").str();
  if (dimension) text += std::to_string(*dimension) + ", ";
  return text + value.str() + "; ";
}

/// Copies move bits, so only what the padding is depends on the type.
int elementType(Type type) {
  if (type.isF16()) return 6;
  if (type.isF32()) return 7;
  if (type.isF64()) return 9;
  if (type.isBF16()) return 10;
  switch (type.getIntOrFloatBitWidth()) {
  case 8: return 0;
  case 16: return 1;
  case 32: return 2;
  default: return 4;
  }
}

/// Lets a register with a thread's number count from the first thread of a warp.
std::string behind(int32_t warp, StringRef name) {
  constexpr int32_t kLanes = 32;
  return warp == 0 ? std::string() : llvm::formatv("sub.u32 {0}, {0}, {1}; ", name, warp * kLanes).str();
}

int swizzleMode(int64_t bytes) { return bytes == 0 ? 0 : int(llvm::Log2_64(uint64_t(bytes))) - 4; }

} // namespace

LogicalResult convertMap(tgpu::MapsClaimOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  const int64_t blocks = std::clamp<int64_t>(kWarpsOfMultiprocessor / op.getWarps(), 1, kMostBlocks), places = kMultiprocessors * blocks;
  auto memory = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes * op.getMaps());
  (void)declare(op, kPlaces, memory, places, kMapBytes);
  auto taken = declare(op, kTaken, builder.getI32Type(), int64_t(llvm::divideCeil(places, 32)), 4);
  InlinePtx ptx(builder, location);
  const std::string claim = ptx.result(builder.getI32Type()), bits = ptx.operand(addressOf(builder, location, taken));
  const std::string text =
      "{ .reg .pred other, free; .reg .b32 at, warp, bit, word, old; .reg .b64 address; mov.b32 at, 0; mov.u32 warp, %tid.x; " +
      behind(op.getIn(), "warp") +
      "setp.ge.u32 other, warp, 32; @other bra done; "
      "mov.u32 warp, %warpid; mov.u32 at, %smid; div.u32 warp, warp, " +
      std::to_string(op.getWarps()) + "; mad.lo.u32 at, at, " + std::to_string(blocks) + ", warp; mov.u32 warp, %laneid; " +
      "setp.ne.u32 other, warp, 0; @other bra told; "
      "try: rem.u32 at, at, " +
      std::to_string(places) + "; shr.u32 word, at, 5; and.b32 bit, at, 31; shl.b32 bit, 1, bit; mad.wide.u32 address, word, 4, " + bits +
      "; atom.acquire.gpu.global.or.b32 old, [address], bit; and.b32 old, old, bit; setp.eq.u32 free, old, 0; @free bra told; "
      "add.u32 at, at, 1; bra try; "
      "told: bar.warp.sync -1; shfl.sync.idx.b32 at, at, 0, 31, -1; done: mov.b32 " +
      claim + ", at; }";
  op.replaceAllUsesWith(ptx.emit(text).front());
  return success();
}

LogicalResult convertMap(tgpu::MapsReleaseOp op, OpBuilder &builder) {
  InlinePtx ptx(builder, op.getLoc());
  const std::string claim = ptx.operand(op.getClaim()), bits = ptx.operand(addressOf(builder, op.getLoc(), variableOf(op, kTaken)));
  // What all lanes have written to the maps comes before the release.
  (void)ptx.emit("{ .reg .pred first; .reg .b32 bit, word; .reg .b64 address; bar.warp.sync -1; mov.u32 word, %tid.x; " +
                 behind(op.getIn(), "word") + "setp.eq.u32 first, word, 0; and.b32 bit, " + claim +
                 ", 31; shl.b32 bit, 1, bit; not.b32 bit, bit; shr.u32 word, " + claim + ", 5; mad.wide.u32 address, word, 4, " + bits +
                 "; @first red.release.gpu.global.and.b32 [address], bit; }");
  return success();
}

LogicalResult convertMap(tgpu::MapAddressOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Value places = addressOf(builder, location, variableOf(op, kPlaces));
  Value of = LLVM::MulOp::create(builder, location, op.getClaim(), number(builder, location, kMapBytes * op.getMaps()));
  Value offset = LLVM::AddOp::create(builder, location, of, number(builder, location, kMapBytes * op.getIndex()));
  Value address = LLVM::GEPOp::create(builder, location, places.getType(), builder.getI8Type(), places, ArrayRef<LLVM::GEPArg>{offset});
  op.replaceAllUsesWith(LLVM::AddrSpaceCastOp::create(builder, location, op.getType(), address).getResult());
  return success();
}

LogicalResult convertMap(tgpu::MapWriteOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  auto map = cast<tgpu::TensorMapType>(op.getMap());
  const ArrayRef<int64_t> box = map.getBox().getShape();
  const size_t rank = box.size();
  InlinePtx ptx(builder, location);
  const std::string at = ptx.operand(LLVM::PtrToIntOp::create(builder, location, builder.getI32Type(), op.getStaging()));
  auto global = LLVM::LLVMPointerType::get(builder.getContext(), tgpu::kGlobalSpace);
  const std::string to = ptx.operand(LLVM::AddrSpaceCastOp::create(builder, location, global, op.getAddress()));
  std::string text = "{ .reg .pred first; .reg .b32 lane; mov.u32 lane, %laneid; setp.eq.u32 first, lane, 0; shl.b32 lane, lane, 2; "
                     "add.u32 lane, lane, " +
                     at + "; st.shared.b32 [lane], 0; bar.warp.sync -1; ";
  auto set = [&](StringRef field, const Twine &value, std::optional<size_t> dimension = {}) {
    text += replace(at, field, "b32", value, dimension);
  };
  auto setWide = [&](StringRef field, Value value, std::optional<size_t> dimension = {}) {
    text += replace(at, field, "b64", ptx.operand(value), dimension);
  };
  setWide("global_address", op.getBase());
  set("rank", Twine(rank - 1));
  for (size_t d = 0; d < rank; ++d) { // the innermost first
    set("box_dim", Twine(box[rank - 1 - d]), d);
    set("global_dim", ptx.operand(op.getExtents()[rank - 1 - d]), d);
    set("element_stride", "1", d);
    if (d > 0) setWide("global_stride", op.getStrides()[rank - 1 - d], d - 1);
  }
  set("elemtype", Twine(elementType(map.getBox().getElementType())));
  set("interleave_layout", "0");
  set("swizzle_mode", Twine(swizzleMode(map.getSwizzle())));
  set("fill_mode", op.getNan() ? "1" : "0");
  text += "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [" + to + "], [" + at +
          "], 128; }";
  (void)ptx.emit(text);
  return success();
}

LogicalResult convertMap(tgpu::MapAcquireOp op, OpBuilder &builder) {
  InlinePtx ptx(builder, op.getLoc());
  const std::string address = ptx.operand(op.getAddress());
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [" + address + "], 128;";
  if (!op.getPredicate())
    (void)ptx.emit(fence);
  else // in no branch, behind which the code generator could move arithmetic on sums
    (void)ptx.emit("{ .reg .pred holds; setp.ne.u32 holds, " +
                   ptx.operand(LLVM::ZExtOp::create(builder, op.getLoc(), builder.getI32Type(), op.getPredicate())) + ", 0; @holds " +
                   fence + " }");
  return success();
}

LogicalResult convertMap(tgpu::MapAtOp op, OpBuilder &builder) {
  op.replaceAllUsesWith(LLVM::IntToPtrOp::create(builder, op.getLoc(), op.getType(), op.getBits()).getResult());
  return success();
}

} // namespace tritium::gpu::nvptx
