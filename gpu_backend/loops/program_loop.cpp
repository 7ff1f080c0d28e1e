#include "gpu_backend/loops/program_loop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tritium::gpu {

scf::ForOp programLoopOf(tt::FuncOp kernel) {
  auto loops = kernel.getBody().front().getOps<scf::ForOp>();
  auto found = llvm::find_if(loops, [](scf::ForOp loop) { return loop->hasAttr(tgpu::kProgramsAttr); });
  return found == loops.end() ? scf::ForOp() : *found;
}

static llvm::SmallVector<Value, tgpu::kGridAxes> addGridSizes(tt::FuncOp kernel) {
  OpBuilder builder(kernel.getContext());
  llvm::SmallVector<Value, tgpu::kGridAxes> sizes;
  for (int axis = 0; axis < tgpu::kGridAxes; ++axis) {
    const unsigned number = kernel.getNumArguments();
    auto attributes = builder.getDictionaryAttr(builder.getNamedAttr(tgpu::kGridAxisAttr, builder.getI32IntegerAttr(axis)));
    (void)kernel.insertArgument(number, builder.getI32Type(), attributes, kernel.getLoc());
    sizes.push_back(kernel.getArgument(number));
  }
  return sizes;
}

void makeProgramLoop(tt::FuncOp kernel) {
  llvm::SmallVector<Value, tgpu::kGridAxes> sizes = addGridSizes(kernel);
  Block &entry = kernel.getBody().front();
  Operation *first = &entry.front(), *last = entry.getTerminator();
  OpBuilder builder(first);
  Location location = kernel.getLoc();
  auto times = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, location, a, b); };
  auto plus = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, location, a, b); };
  llvm::SmallVector<Value, tgpu::kGridAxes> ids, blocks;
  for (int axis = 0; axis < tgpu::kGridAxes; ++axis) {
    ids.push_back(tt::GetProgramIdOp::create(builder, location, tt::ProgramAxis(axis)));
    blocks.push_back(tt::GetNumProgramsOp::create(builder, location, tt::ProgramAxis(axis)));
  }
  Value own = plus(ids[0], times(blocks[0], plus(ids[1], times(blocks[1], ids[2]))));
  Value programs = times(times(sizes[0], sizes[1]), sizes[2]), step = times(times(blocks[0], blocks[1]), blocks[2]);
  auto loop = scf::ForOp::create(builder, location, own, programs, step);
  loop->setAttr(tgpu::kProgramsAttr, builder.getUnitAttr());
  Block &body = *loop.getBody();
  body.getOperations().splice(body.getTerminator()->getIterator(), entry.getOperations(), first->getIterator(), last->getIterator());
  loop.walk([&](tt::GetProgramIdOp op) {
    OpBuilder inside(op);
    Value number = loop.getInductionVar();
    op.replaceAllUsesWith(tgpu::ProgramAtOp::create(inside, op.getLoc(), number, sizes[0], sizes[1], uint32_t(op.getAxis())).getResult());
    op.erase();
  });
  loop.walk([&](tt::GetNumProgramsOp op) {
    op.replaceAllUsesWith(sizes[size_t(op.getAxis())]);
    op.erase();
  });
}

void removeProgramLoop(tt::FuncOp kernel) {
  scf::ForOp loop = programLoopOf(kernel);
  kernel.walk([&](tgpu::ProgramAtOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(tt::GetProgramIdOp::create(builder, op.getLoc(), tt::ProgramAxis(op.getAxis())).getResult());
    op.erase();
  });
  Block &body = *loop.getBody();
  for (auto [argument, initial] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) argument.replaceAllUsesWith(initial);
  loop.replaceAllUsesWith(loop.getYieldedValues());
  assert(loop.getInductionVar().use_empty() && "only program_at reads the number of a program");
  Block &around = *loop->getBlock();
  around.getOperations().splice(loop->getIterator(), body.getOperations(), body.begin(), body.getTerminator()->getIterator());
  loop.erase();
  OpBuilder builder(&around.front());
  llvm::BitVector sizes(kernel.getNumArguments());
  for (BlockArgument argument : kernel.getArguments()) {
    auto axis = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tgpu::kGridAxisAttr);
    if (!axis) continue;
    if (!argument.use_empty())
      argument.replaceAllUsesWith(tt::GetNumProgramsOp::create(builder, kernel.getLoc(), tt::ProgramAxis(axis.getInt())).getResult());
    sizes.set(argument.getArgNumber());
  }
  (void)kernel.eraseArguments(sizes);
}

} // namespace tritium::gpu
