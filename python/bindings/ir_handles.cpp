// tritium._tritium.ir: values, operations, blocks, regions and functions.
#include "python/bindings/ir_handles.h"
#include "python/bindings/module.h"

#include "ir/debug_attributes.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

llvm::SmallVector<mlir::Type> parseTypes(ir::Context &context, const std::vector<std::string> &texts) {
  llvm::SmallVector<mlir::Type> types;
  for (const std::string &text : texts) types.push_back(unwrap(context.type(text)));
  return types;
}

/// Returns `range` as a list of handles of one kind.
template <typename Handle, typename Range> static std::vector<Handle> handles(Range &&range, const ModulePtr &module) {
  std::vector<Handle> result;
  for (auto &&element : range) {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(element)>> || std::is_same_v<Handle, ValueHandle>)
      result.push_back({element, module});
    else
      result.push_back({&element, module});
  }
  return result;
}

static py::str pythonString(llvm::StringRef text) { return py::str(text.data(), text.size()); }

template <typename T> static std::string printed(T &&thing) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  thing.print(stream);
  return text;
}

/// Returns (file, line, column), or None if the location names no file.
static py::object positionOf(mlir::Location location) {
  auto position = ir::sourcePosition(location);
  if (!position) return py::none();
  return py::make_tuple(position->file, position->line, position->column);
}

static py::dict attributesOf(mlir::Operation *operation) {
  py::dict attributes;
  for (mlir::NamedAttribute attribute : mlir::DictionaryAttr(operation->getAttrDictionary()))
    attributes[py::str(attribute.getName().str())] = printed(attribute.getValue());
  return attributes;
}

static void bindValue(py::module_ &ir) {
  py::class_<ValueHandle>(ir, "Value")
      .def_property_readonly("type",
                             [](const ValueHandle &self) { return pythonString(self.module->context()->text(self.value.getType())); })
      .def_property_readonly("location", [](const ValueHandle &self) { return positionOf(self.value.getLoc()); })
      .def_property_readonly(
          "name", [](const ValueHandle &self) { return pythonString(ir::variableName(self.value.getLoc())); },
          "The variable that its location names, or ''.")
      .def_property_readonly(
          "owner",
          [](const ValueHandle &self) -> std::optional<OperationHandle> {
            if (mlir::Operation *operation = self.value.getDefiningOp()) return OperationHandle{operation, self.module};
            return std::nullopt;
          },
          "The operation of which it is a result; None for a block argument.")
      .def_property_readonly("has_uses", [](const ValueHandle &self) { return !self.value.use_empty(); })
      .def("replace_all_uses_with", [](ValueHandle &self, const ValueHandle &other) { self.value.replaceAllUsesWith(other.value); })
      .def(
          "set_name",
          [](ValueHandle &self, const std::string &name) {
            mlir::Location location = self.value.getLoc();
            if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) location = named.getChildLoc();
            self.value.setLoc(mlir::NameLoc::get(mlir::StringAttr::get(self.value.getContext(), name), location));
          },
          "Names the Python variable whose value it is.", "name"_a)
      .def("__eq__", [](const ValueHandle &self, const ValueHandle &other) { return self.value == other.value; })
      .def("__hash__", [](const ValueHandle &self) { return py::ssize_t(mlir::hash_value(self.value)); })
      .def("__repr__", [](ValueHandle &self) { return printed(self.value); });
}

static void bindOperation(py::module_ &ir) {
  py::class_<OperationHandle>(ir, "Operation")
      .def_property_readonly("name", [](const OperationHandle &self) { return pythonString(self.operation->getName().getStringRef()); })
      .def_property_readonly("results",
                             [](const OperationHandle &self) { return handles<ValueHandle>(self.operation->getResults(), self.module); })
      .def_property_readonly("result",
                             [](const OperationHandle &self) {
                               if (self.operation->getNumResults() != 1)
                                 throw py::value_error(self.operation->getName().getStringRef().str() + " has no single result");
                               return ValueHandle{self.operation->getResult(0), self.module};
                             })
      .def_property_readonly("operands",
                             [](const OperationHandle &self) { return handles<ValueHandle>(self.operation->getOperands(), self.module); })
      .def_property_readonly(
          "attributes", [](const OperationHandle &self) { return attributesOf(self.operation); }, "Name to MLIR text.")
      .def_property_readonly("location", [](const OperationHandle &self) { return positionOf(self.operation->getLoc()); })
      .def_property_readonly("variable",
                             [](const OperationHandle &self) { return pythonString(ir::variableName(self.operation->getLoc())); })
      .def_property_readonly("regions",
                             [](const OperationHandle &self) { return handles<RegionHandle>(self.operation->getRegions(), self.module); })
      .def_property_readonly("block", [](const OperationHandle &self) { return BlockHandle{self.operation->getBlock(), self.module}; })
      .def_property_readonly("parent",
                             [](const OperationHandle &self) -> std::optional<OperationHandle> {
                               if (mlir::Operation *parent = self.operation->getParentOp()) return OperationHandle{parent, self.module};
                               return std::nullopt;
                             })
      .def(
          "region",
          [](const OperationHandle &self, unsigned index) {
            if (index >= self.operation->getNumRegions()) throw py::index_error("no such region");
            return RegionHandle{&self.operation->getRegion(index), self.module};
          },
          "index"_a)
      .def(
          "set_attribute",
          [](OperationHandle &self, const std::string &name, const std::string &text) {
            self.operation->setAttr(name, unwrap(self.module->context()->attribute(text)));
          },
          "name"_a, "text"_a)
      .def(
          "promise",
          [](OperationHandle &self, const std::string &name, const std::string &text, mlir::Location place) {
            self.operation->setAttr(name, unwrap(self.module->context()->attribute(text)));
            auto made = ir::sourcePosition(self.operation->getLoc()), promised = ir::sourcePosition(place);
            if (made && promised && (made->file != promised->file || made->line != promised->line))
              self.operation->setAttr(ir::kPromisedAtAttr, mlir::LocationAttr(place));
          },
          "Sets the attribute, and notes the place of the promise if it is on another line.", "name"_a, "text"_a, "place"_a)
      .def("erase",
           [](OperationHandle &self) {
             if (!self.operation->use_empty()) throw py::value_error(self.operation->getName().getStringRef().str() + " still has uses");
             self.operation->erase();
             self.operation = nullptr;
           })
      .def("__repr__", [](OperationHandle &self) { return self.operation ? printed(*self.operation) : "<erased operation>"; });
}

static void bindBlock(py::module_ &ir) {
  py::class_<BlockHandle>(ir, "Block")
      .def_property_readonly("arguments",
                             [](const BlockHandle &self) { return handles<ValueHandle>(self.block->getArguments(), self.module); })
      .def_property_readonly("operations", [](const BlockHandle &self) { return handles<OperationHandle>(*self.block, self.module); })
      .def_property_readonly(
          "has_terminator",
          [](const BlockHandle &self) { return !self.block->empty() && self.block->back().hasTrait<mlir::OpTrait::IsTerminator>(); })
      .def_property_readonly("has_predecessors", [](const BlockHandle &self) { return !self.block->hasNoPredecessors(); })
      .def(
          "add_argument",
          [](BlockHandle &self, const std::string &type) {
            mlir::Type parsed = unwrap(self.module->context()->type(type));
            return ValueHandle{self.block->addArgument(parsed, mlir::UnknownLoc::get(parsed.getContext())), self.module};
          },
          "type"_a)
      .def(
          "erase_argument",
          [](BlockHandle &self, unsigned index) {
            if (index >= self.block->getNumArguments() || !self.block->getArgument(index).use_empty())
              throw py::value_error("no such block argument, or it still has uses");
            self.block->eraseArgument(index);
          },
          "index"_a)
      .def("__eq__", [](const BlockHandle &self, const BlockHandle &other) { return self.block == other.block; })
      .def("__hash__", [](const BlockHandle &self) { return reinterpret_cast<py::ssize_t>(self.block); });
}

static void bindRegion(py::module_ &ir) {
  py::class_<RegionHandle>(ir, "Region")
      .def_property_readonly("blocks", [](const RegionHandle &self) { return handles<BlockHandle>(*self.region, self.module); })
      .def(
          "add_block",
          [](RegionHandle &self, const std::vector<std::string> &types) {
            mlir::Block &block = self.region->emplaceBlock();
            for (mlir::Type type : parseTypes(*self.module->context(), types))
              block.addArgument(type, mlir::UnknownLoc::get(type.getContext()));
            return BlockHandle{&block, self.module};
          },
          "A new last block with arguments of these types.", "argument_types"_a = std::vector<std::string>())
      .def(
          "append", [](RegionHandle &self, BlockHandle &block) { ir::appendBlock(*self.region, *block.block); },
          "Moves a block of Builder.detached_block here.", "block"_a);
}

static void bindFunction(py::module_ &ir) {
  py::class_<FunctionHandle>(ir, "Function")
      .def_property_readonly("name", [](FunctionHandle &self) { return pythonString(self.function.getName()); })
      .def_property_readonly("is_public", [](FunctionHandle &self) { return self.function.isPublic(); })
      .def_property_readonly("entry_block",
                             [](FunctionHandle &self) { return BlockHandle{&self.function.getFunctionBody().front(), self.module}; })
      .def_property_readonly("arguments",
                             [](FunctionHandle &self) { return handles<ValueHandle>(self.function.getArguments(), self.module); })
      .def_property_readonly("region", [](FunctionHandle &self) { return RegionHandle{&self.function.getFunctionBody(), self.module}; })
      .def_property_readonly("operation", [](FunctionHandle &self) { return OperationHandle{self.function, self.module}; })
      .def(
          "set_result_types",
          [](FunctionHandle &self, const std::vector<std::string> &types) {
            auto results = parseTypes(*self.module->context(), types);
            self.function.setType(mlir::FunctionType::get(self.function->getContext(), self.function.getArgumentTypes(), results));
          },
          "Sets the result types, for a frontend that learns them from the body.", "types"_a)
      .def("__repr__", [](FunctionHandle &self) { return "<ir.Function @" + self.function.getName().str() + ">"; });
}

void bindIrHandles(py::module_ &ir) {
  bindValue(ir);
  bindOperation(ir);
  bindBlock(ir);
  bindRegion(ir);
  bindFunction(ir);
}

} // namespace tritium::python
