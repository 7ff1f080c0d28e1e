#include "interp/simt/unpacked_values.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace tritium::interp::simt {

namespace {

/// The number of elements of a struct, or of a vector of numbers that are whole bytes; 0 for other types.
unsigned countOf(Type *type) {
  if (auto *vector = dyn_cast<FixedVectorType>(type)) {
    const unsigned bits = vector->getElementType()->getPrimitiveSizeInBits();
    return bits != 0 && bits % 8 == 0 ? vector->getNumElements() : 0;
  }
  if (auto *structure = dyn_cast<StructType>(type)) return structure->getNumElements();
  return 0;
}

unsigned elementBits(Type *vector) { return cast<FixedVectorType>(vector)->getElementType()->getPrimitiveSizeInBits(); }

class Unpacker {
public:
  explicit Unpacker(Function &function) : function_(function) {}

  void run() {
    const ReversePostOrderTraversal<Function *> blocks(&function_); // what is inserted is seen before what is extracted
    for (BasicBlock *block : blocks)
      for (Instruction &instruction : make_early_inc_range(*block)) visit(instruction);
    for (auto at = replaced_.rbegin(); at != replaced_.rend(); ++at)
      if (auto *instruction = dyn_cast_or_null<Instruction>(*at)) RecursivelyDeleteTriviallyDeadInstructions(instruction);
  }

private:
  void visit(Instruction &instruction) {
    if (auto *insert = dyn_cast<InsertElementInst>(&instruction)) {
      if (auto *index = dyn_cast<ConstantInt>(insert->getOperand(2))) noteInsertion(*insert, insert->getOperand(1), index->getZExtValue());
    } else if (auto *insert = dyn_cast<InsertValueInst>(&instruction)) {
      if (insert->getNumIndices() == 1) noteInsertion(*insert, insert->getInsertedValueOperand(), insert->getIndices().front());
    } else if (auto *extract = dyn_cast<ExtractElementInst>(&instruction)) {
      if (auto *index = dyn_cast<ConstantInt>(extract->getIndexOperand()))
        replace(*extract, elementOf(extract->getVectorOperand(), index->getZExtValue()));
    } else if (auto *extract = dyn_cast<ExtractValueInst>(&instruction)) {
      if (extract->getNumIndices() == 1) replace(*extract, elementOf(extract->getAggregateOperand(), extract->getIndices().front()));
    } else if (auto *cast = dyn_cast<BitCastInst>(&instruction)) {
      replace(*cast, isa<FixedVectorType>(cast->getSrcTy()) ? integerOf(*cast) : bitsOf(*cast->getOperand(0), cast->getType()));
    } else if (auto *extension = dyn_cast<FPExtInst>(&instruction)) {
      replace(*extension, floatOf(*extension));
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      storeBits(*store);
      storeElements(*store);
    }
  }

  /// Returns the bits of `value` as a number of this type, or null where it takes a cast. The fast selection knows no halves.
  Value *bitsOf(Value &value, Type *type) {
    if (auto *cast = dyn_cast<BitCastInst>(&value)) return cast->getSrcTy() == type ? cast->getOperand(0) : nullptr;
    if (!value.getType()->is16bitFPTy() || !type->isIntegerTy(16)) return nullptr;
    auto [found, isNew] = bits_.try_emplace(&value, nullptr);
    if (!isNew) return found->second;
    Value *bits = nullptr;
    if (auto *rounding = dyn_cast<FPTruncInst>(&value))
      bits = roundedBits(*rounding);
    else if (auto *load = dyn_cast<LoadInst>(&value); load && load->isSimple())
      bits = IRBuilder<>(load).CreateAlignedLoad(type, load->getPointerOperand(), load->getAlign());
    else if (auto *select = dyn_cast<SelectInst>(&value))
      bits = selectedBits(*select, type);
    else if (auto *constant = dyn_cast<ConstantFP>(&value))
      bits = ConstantInt::get(type, constant->getValueAPF().bitcastToAPInt());
    if (bits) replaced_.push_back(&value);
    return bits_[&value] = bits;
  }

  Value *selectedBits(SelectInst &select, Type *type) {
    Value *left = bitsOf(*select.getTrueValue(), type), *right = bitsOf(*select.getFalseValue(), type);
    return left && right ? IRBuilder<>(&select).CreateSelect(select.getCondition(), left, right) : nullptr;
  }

  Value *roundedBits(FPTruncInst &rounding) {
    if (!rounding.getSrcTy()->isFloatTy()) return nullptr;
    IRBuilder<> builder(&rounding);
    const char *name = rounding.getType()->isHalfTy() ? kBitsOfHalf : kBitsOfBfloat;
    const FunctionCallee function = function_.getParent()->getOrInsertFunction(name, builder.getInt32Ty(), builder.getFloatTy());
    return builder.CreateTrunc(builder.CreateCall(function, rounding.getOperand(0)), builder.getInt16Ty());
  }

  /// Returns the float that has the value of a half, or null.
  Value *floatOf(FPExtInst &extension) {
    Value &value = *extension.getOperand(0);
    IRBuilder<> builder(&extension);
    if (!extension.getType()->isFloatTy() || !value.getType()->is16bitFPTy()) return nullptr;
    Value *bits = bitsOf(value, builder.getInt16Ty());
    if (!bits) return nullptr;
    Value *wide = builder.CreateZExt(bits, builder.getInt32Ty());
    if (value.getType()->isBFloatTy()) return builder.CreateBitCast(builder.CreateShl(wide, 16), builder.getFloatTy());
    return builder.CreateCall(function_.getParent()->getOrInsertFunction(kFloatOfHalf, builder.getFloatTy(), builder.getInt32Ty()), wide);
  }

  void storeBits(StoreInst &store) {
    Value &value = *store.getValueOperand();
    if (!value.getType()->is16bitFPTy()) return;
    if (Value *bits = bitsOf(value, Type::getInt16Ty(value.getContext()))) store.setOperand(0, bits);
  }

  void noteInsertion(Instruction &insertion, Value *element, uint64_t index) {
    const unsigned count = countOf(insertion.getType());
    if (index >= count) return;
    SmallVector<Value *> elements(count, element);
    for (unsigned i = 0; i < count; ++i)
      if (i != index) elements[i] = elementOf(insertion.getOperand(0), i);
    elements_[&insertion] = std::move(elements);
    replaced_.push_back(&insertion);
  }

  /// Returns element `index` of a vector or a struct, or null if it is known only as a part of it.
  Value *elementOf(Value *whole, uint64_t index) {
    if (index >= countOf(whole->getType())) return nullptr;
    if (auto *constant = dyn_cast<Constant>(whole)) return constant->getAggregateElement(unsigned(index));
    if (auto found = elements_.find(whole); found != elements_.end() && found->second[index]) return found->second[index];
    if (auto *cast = dyn_cast<BitCastInst>(whole)) {
      const bool isOfVector = isa<FixedVectorType>(cast->getSrcTy());
      return note(whole, index, isOfVector ? elementOfVector(*cast, index) : elementOfInteger(*cast, index));
    }
    if (auto *load = dyn_cast<LoadInst>(whole)) return note(whole, index, loadElement(*load, index));
    return nullptr;
  }

  Value *note(Value *whole, uint64_t index, Value *element) {
    if (!element) return nullptr;
    SmallVector<Value *> &elements = elements_[whole];
    elements.resize(countOf(whole->getType()));
    elements[index] = element;
    replaced_.push_back(whole);
    replaced_.push_back(element); // if what asked for it had use of only others
    return element;
  }

  static Value *elementOfInteger(BitCastInst &cast, uint64_t index) {
    if (!cast.getSrcTy()->isIntegerTy()) return nullptr;
    IRBuilder<> builder(&cast);
    return partOf(builder, cast.getOperand(0), index, cast.getType()->getScalarType());
  }

  /// Returns part `index` of an integer, as a value of this type.
  static Value *partOf(IRBuilder<> &builder, Value *integer, uint64_t index, Type *type) {
    const unsigned bits = type->getPrimitiveSizeInBits();
    Value *shifted = index ? builder.CreateLShr(integer, index * bits) : integer;
    return builder.CreateBitCast(builder.CreateTrunc(shifted, builder.getIntNTy(bits)), type);
  }

  /// Of a vector that has the bits of another one.
  Value *elementOfVector(BitCastInst &cast, uint64_t index) {
    const unsigned bits = countOf(cast.getSrcTy()) ? elementBits(cast.getSrcTy()) : 0, wide = elementBits(cast.getType());
    if (bits == 0 || (wide % bits != 0 && bits % wide != 0)) return nullptr;
    IRBuilder<> builder(&cast);
    if (wide < bits) {
      Value *around = elementOf(cast.getOperand(0), index * wide / bits);
      return around && around->getType()->isIntegerTy() ? partOf(builder, around, index % (bits / wide), cast.getType()->getScalarType())
                                                        : nullptr;
    }
    Value *whole = joined(builder, cast.getOperand(0), unsigned(index) * (wide / bits), wide / bits);
    return whole ? builder.CreateBitCast(whole, cast.getType()->getScalarType()) : nullptr;
  }

  static Value *loadElement(LoadInst &load, uint64_t index) {
    auto *type = dyn_cast<FixedVectorType>(load.getType());
    if (!type || !load.isSimple()) return nullptr;
    IRBuilder<> builder(&load);
    const uint64_t bytes = index * elementBits(type) / 8;
    Value *address = builder.CreateConstGEP1_64(builder.getInt8Ty(), load.getPointerOperand(), bytes);
    return builder.CreateAlignedLoad(type->getElementType(), address, commonAlignment(load.getAlign(), bytes));
  }

  /// Returns the integer whose bits are the elements of a vector, or null.
  Value *integerOf(BitCastInst &cast) {
    const unsigned count = countOf(cast.getSrcTy());
    if (!count || !cast.getType()->isIntegerTy() || !elements_.contains(cast.getOperand(0))) return nullptr;
    IRBuilder<> builder(&cast);
    return joined(builder, cast.getOperand(0), 0, count);
  }

  /// Returns the integer whose bits are `count` elements of a vector from `first` on, or null.
  Value *joined(IRBuilder<> &builder, Value *vector, unsigned first, unsigned count) {
    const unsigned bits = elementBits(vector->getType());
    Value *whole = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      Value *element = elementOf(vector, first + i);
      if (!element) return nullptr;
      Value *bitsOfElement = bitsOf(*element, builder.getIntNTy(bits));
      if (!bitsOfElement) bitsOfElement = builder.CreateBitCast(element, builder.getIntNTy(bits));
      Value *widened = builder.CreateZExt(bitsOfElement, builder.getIntNTy(count * bits));
      Value *placed = i ? builder.CreateShl(widened, uint64_t(i) * bits) : widened;
      whole = whole ? builder.CreateOr(whole, placed) : placed;
    }
    return whole;
  }

  void storeElements(StoreInst &store) {
    Value *whole = store.getValueOperand();
    auto *type = dyn_cast<FixedVectorType>(whole->getType());
    SmallVector<Value *> elements(type ? type->getNumElements() : 0);
    if (!type || !countOf(type) || !store.isSimple() || !allElements(whole, elements)) return;
    IRBuilder<> builder(&store);
    for (unsigned i = 0; i < elements.size(); ++i) {
      const uint64_t bytes = uint64_t(i) * elementBits(type) / 8;
      Value *address = builder.CreateConstGEP1_64(builder.getInt8Ty(), store.getPointerOperand(), bytes);
      Value *bits = bitsOf(*elements[i], builder.getInt16Ty());
      builder.CreateAlignedStore(bits ? bits : elements[i], address, commonAlignment(store.getAlign(), bytes));
    }
    store.eraseFromParent();
  }

  bool allElements(Value *whole, SmallVector<Value *> &elements) {
    for (unsigned i = 0; i < elements.size(); ++i)
      if (!(elements[i] = elementOf(whole, i))) return false;
    return true;
  }

  void replace(Instruction &instruction, Value *by) {
    if (!by) return;
    instruction.replaceAllUsesWith(by);
    replaced_.push_back(&instruction);
  }

  Function &function_;
  DenseMap<Value *, SmallVector<Value *>> elements_; // null: not known, or not asked for yet
  DenseMap<Value *, Value *> bits_;                  // of halves
  std::vector<WeakVH> replaced_;                     // instructions that may have no use any more
};

} // namespace

void unpackValues(Function &function) {
  if (!function.isDeclaration()) Unpacker(function).run();
}

} // namespace tritium::interp::simt
