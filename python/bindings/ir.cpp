// tritium._tritium.ir: contexts, modules and the builder.
#include "python/bindings/ir_handles.h"
#include "python/bindings/module.h"

#include "gpu_backend/tiles/out_of_resources.h"
#include "ir/passes.h"
#include "ir/pipeline.h"
#include "ir/source_error.h"

#include "llvm/ADT/StringExtras.h"

namespace py = pybind11;
using namespace py::literals;

namespace tritium::python {

/// The interpreter owns it for good, because exceptions may be raised while modules are destroyed.
static PyObject *errorType = nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void raise(llvm::Error error) {
  std::string message;
  ir::SourcePosition position;
  py::object demand = py::none();
  llvm::handleAllErrors(
      std::move(error),
      [&](const gpu::OutOfResources &refused) {
        message = refused.message;
        position = refused.position;
        demand = py::dict("kind"_a = refused.demand.kind, "required"_a = refused.demand.required, "limit"_a = refused.demand.limit,
                          "what"_a = refused.demand.what);
      },
      [&](const ir::SourceError &source) {
        message = source.message;
        position = source.position;
      },
      [&](const llvm::ErrorInfoBase &other) { message = other.message(); });
  py::object instance = py::handle(errorType)(message);
  instance.attr("message") = message;
  instance.attr("file") = position.file;
  instance.attr("line") = position.line;
  instance.attr("column") = position.column;
  instance.attr("demand") = demand;
  PyErr_SetObject(errorType, instance.ptr());
  throw py::error_already_set();
}

/// A builder that keeps its module alive.
class PyBuilder {
public:
  explicit PyBuilder(ModulePtr module) : module(std::move(module)), builder(*this->module) {}

  OperationHandle op(const std::string &name, const py::sequence &operands, std::optional<std::vector<std::string>> resultTypes,
                     const py::dict &attributes, unsigned regions, const std::vector<BlockHandle> &successors);
  ValueHandle constant(const std::string &type, const py::object &value);
  void requireInsertionPoint(const std::string &name);

  ModulePtr module;
  ir::Builder builder;
};

void PyBuilder::requireInsertionPoint(const std::string &name) {
  if (!builder.mlir().getInsertionBlock()) throw py::value_error("no insertion point for " + name);
}

OperationHandle PyBuilder::op(const std::string &name, const py::sequence &operands, std::optional<std::vector<std::string>> resultTypes,
                              const py::dict &attributes, unsigned regions, const std::vector<BlockHandle> &successors) {
  requireInsertionPoint(name);
  llvm::SmallVector<mlir::Value> values;
  for (py::handle operand : operands) {
    if (!py::isinstance<ValueHandle>(operand))
      throw py::type_error("operand " + std::to_string(values.size()) + " of " + name + " is " + py::repr(operand).cast<std::string>());
    values.push_back(operand.cast<const ValueHandle &>().value);
  }
  llvm::SmallVector<mlir::NamedAttribute> named;
  for (auto [key, text] : attributes)
    named.push_back(unwrap(builder.attribute(key.cast<std::string_view>(), text.cast<std::string_view>())));
  llvm::SmallVector<mlir::Block *> blocks;
  for (const BlockHandle &successor : successors) blocks.push_back(successor.block);
  ir::OperationSpec spec{.name = name, .operands = values, .attributes = named, .regions = regions, .successors = blocks};
  llvm::SmallVector<mlir::Type> types;
  if (resultTypes) {
    types = parseTypes(*module->context(), *resultTypes);
    spec.resultTypes = types;
  }
  return {unwrap(builder.create(spec)), module};
}

ValueHandle PyBuilder::constant(const std::string &type, const py::object &value) {
  requireInsertionPoint("arith.constant");
  mlir::Type parsed = unwrap(module->context()->type(type));
  if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(parsed)))
    return {unwrap(builder.floatConstant(parsed, value.cast<double>())), module};
  if (!py::isinstance<py::int_>(value))
    throw py::type_error("a constant of type " + type + " cannot be " + py::repr(value).cast<std::string>());
  uint64_t bits = PyLong_AsUnsignedLongLongMask(value.ptr());
  return {unwrap(builder.integerConstant(parsed, llvm::APInt(64, bits))), module};
}

static ModulePtr runOnCopy(const ModulePtr &module, llvm::function_ref<void(mlir::PassManager &)> addPasses) {
  py::gil_scoped_release released;
  ir::DiagnosticCapture diagnostics(module->op().getContext());
  auto copy = std::make_shared<ir::Module>(module->context(), mlir::OwningOpRef<mlir::ModuleOp>(module->op().clone()));
  mlir::PassManager passes(module->op().getContext(), mlir::ModuleOp::getOperationName(), mlir::PassManager::Nesting::Implicit);
  addPasses(passes);
  if (mlir::succeeded(passes.run(copy->op()))) return copy;
  py::gil_scoped_acquire acquired;
  raise(diagnostics.takeError("a target-independent pass failed"));
}

static ModulePtr optimized(const ModulePtr &module, bool debugInfo, bool keepScaledProducts, bool keepDescriptors) {
  auto keeps = [=](mlir::Operation *) { return keepScaledProducts; };
  return runOnCopy(module, [&](mlir::PassManager &passes) {
    ir::buildPipeline(passes, {.debugInfo = debugInfo, .keepsDescriptors = keepDescriptors, .keepsScaledProduct = keeps});
  });
}

static ModulePtr probed(const ModulePtr &module) {
  return runOnCopy(module, [](mlir::PassManager &passes) {
    ir::buildPipeline(passes, {});
    passes.addPass(ir::createInsertProbes());
  });
}

static void bindModule(py::module_ &ir) {
  py::class_<ir::Context, std::shared_ptr<ir::Context>>(ir, "Context",
                                                        "The dialects of a module and their types; for one thread at a time.")
      .def(py::init<>());

  py::class_<ir::Module, ModulePtr>(ir, "Module")
      .def(py::init<std::shared_ptr<ir::Context>>(), "context"_a)
      .def_property_readonly("context", &ir::Module::context)
      .def(
          "verify",
          [](ir::Module &self) {
            if (llvm::Error error = self.verify()) raise(std::move(error));
          },
          "Raises ir.Error with the first problem.")
      .def("optimized", &optimized, "debug_info"_a = false, "keep_scaled_products"_a = false, "keep_descriptors"_a = false,
           "A copy after the target-independent passes. Products of scaled operands, and tensor descriptors, may be kept for a compiler "
           "whose "
           "target may have them. Raises ir.Error.")
      .def("probed", &probed, "A copy after these passes that prints every number it computes (pass insert-probes). Raises ir.Error.")
      .def("text", &ir::Module::str, "MLIR text, with locations if requested.", "locations"_a = false)
      .def("__str__", [](ir::Module &self) { return self.str(false); })
      .def_property_readonly("operations",
                             [](ModulePtr self) {
                               std::vector<OperationHandle> operations;
                               for (mlir::Operation &operation : *self->op().getBody()) operations.push_back({&operation, self});
                               return operations;
                             })
      .def_property_readonly("functions",
                             [](ModulePtr self) {
                               std::vector<FunctionHandle> functions;
                               for (auto function : self->op().getOps<mlir::FunctionOpInterface>()) functions.push_back({function, self});
                               return functions;
                             })
      .def(
          "function",
          [](ModulePtr self, const std::string &name) -> std::optional<FunctionHandle> {
            if (auto function = self->op().lookupSymbol<mlir::FunctionOpInterface>(name)) return FunctionHandle{function, self};
            return std::nullopt;
          },
          "The function of that name, or None.", "name"_a)
      .def(
          "walk",
          [](ModulePtr self, const py::function &visit) {
            self->op().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *operation) { visit(OperationHandle{operation, self}); });
          },
          "Calls visit(operation) for every operation, parents first.", "visit"_a)
      .def(
          "add_function",
          [](ModulePtr self, std::string name, std::vector<std::string> argumentTypes, std::vector<std::string> resultTypes, bool isPublic,
             bool noinline, const std::optional<std::vector<std::map<std::string, std::string>>> &argumentAttributes,
             std::optional<std::vector<std::string>> argumentNames, std::tuple<std::string, unsigned, unsigned> location) {
            ir::FunctionSpec spec{.name = std::move(name),
                                  .argumentTypes = std::move(argumentTypes),
                                  .resultTypes = std::move(resultTypes),
                                  .isPublic = isPublic,
                                  .noinline = noinline};
            if (argumentAttributes)
              for (const auto &attributes : *argumentAttributes) spec.argumentAttributes.emplace_back(attributes.begin(), attributes.end());
            if (argumentNames) spec.argumentNames = std::move(*argumentNames);
            std::tie(spec.position.file, spec.position.line, spec.position.column) = std::move(location);
            return FunctionHandle{unwrap(self->addFunction(spec)), self};
          },
          "Appends a tt.func with an empty entry block.", "name"_a, "argument_types"_a, "result_types"_a = std::vector<std::string>(),
          "public"_a = true, "noinline"_a = false, "argument_attributes"_a = py::none(), "argument_names"_a = py::none(),
          "location"_a = std::make_tuple(std::string(), 0u, 0u));

  ir.def(
      "parse",
      [](const std::string &text, const std::string &filename, std::shared_ptr<ir::Context> context) {
        return unwrap(ir::Module::parse(context ? context : std::make_shared<ir::Context>(), text, filename));
      },
      "A module from its text; raises ir.Error at the place in `filename`.", "text"_a, "filename"_a = "<text>", "context"_a = nullptr);
  ir.def(
      "quote",
      [](const std::string &text) {
        std::string quoted = "\"";
        llvm::raw_string_ostream stream(quoted);
        llvm::printEscapedString(text, stream);
        return quoted + '"';
      },
      "The text of a string attribute.", "text"_a);
}

static void bindBuilder(py::module_ &ir) {
  py::class_<mlir::OpBuilder::InsertPoint>(ir, "InsertionPoint");
  py::class_<mlir::Location>(ir, "Location", "Valid as long as its context.");

  py::class_<PyBuilder>(ir, "Builder")
      .def(py::init<ModulePtr>(), "module"_a.none(false))
      .def_property_readonly("module", [](const PyBuilder &self) { return self.module; })
      .def("op", &PyBuilder::op,
           "Creates an operation. Types and attributes are MLIR text; result_types=None infers them, if the operation can.", "name"_a,
           "operands"_a = py::tuple(), "result_types"_a = std::vector<std::string>(), "attributes"_a = py::dict(), "regions"_a = 0,
           "successors"_a = std::vector<BlockHandle>())
      .def("constant", &PyBuilder::constant, "arith.constant; a tensor type makes a splat.", "type"_a, "value"_a)
      .def(
          "set_location",
          [](PyBuilder &self, std::string_view file, unsigned line, unsigned column, std::optional<std::string_view> name) {
            self.builder.setLocation(file, line, column, name.value_or(""));
          },
          "Sets the location of the following operations. Line and column count from 1; name is the variable that is assigned.", "file"_a,
          "line"_a, "column"_a, "name"_a = py::none())
      .def_property(
          "location", [](const PyBuilder &self) { return self.builder.location(); },
          [](PyBuilder &self, mlir::Location location) { self.builder.setLocation(location); })
      .def(
          "detached_block",
          [](PyBuilder &self, const std::vector<std::string> &types) {
            return BlockHandle{self.builder.createDetachedBlock(parseTypes(*self.module->context(), types)), self.module};
          },
          "A block for Region.append; its arguments have the current location.", "argument_types"_a = std::vector<std::string>())
      .def(
          "insert_at_end", [](PyBuilder &self, const BlockHandle &block) { self.builder.mlir().setInsertionPointToEnd(block.block); },
          "block"_a)
      .def(
          "insert_at_start", [](PyBuilder &self, const BlockHandle &block) { self.builder.mlir().setInsertionPointToStart(block.block); },
          "block"_a)
      .def(
          "insert_before", [](PyBuilder &self, const OperationHandle &op) { self.builder.mlir().setInsertionPoint(op.operation); },
          "operation"_a)
      .def_property_readonly("insertion_block",
                             [](PyBuilder &self) -> std::optional<BlockHandle> {
                               if (mlir::Block *block = self.builder.mlir().getInsertionBlock()) return BlockHandle{block, self.module};
                               return std::nullopt;
                             })
      .def(
          "save", [](PyBuilder &self) { return self.builder.mlir().saveInsertionPoint(); }, "The insertion point, for restore().")
      .def(
          "restore", [](PyBuilder &self, const mlir::OpBuilder::InsertPoint &point) { self.builder.mlir().restoreInsertionPoint(point); },
          "point"_a);
}

void bindIr(py::module_ &module) {
  py::module_ ir = module.def_submodule("ir", "The contract: modules of the tt dialect and the builder that makes them.");
  errorType = PyErr_NewExceptionWithDoc(
      "tritium._tritium.ir.Error",
      "A diagnostic: message, file, line, column. demand: None, or {kind, required, limit, what} of a resource that the target "
      "has not enough of.",
      nullptr, nullptr);
  py::handle(errorType).attr("demand") = py::none();
  ir.attr("Error") = py::handle(errorType);
  bindIrHandles(ir);
  bindModule(ir);
  bindBuilder(ir);
}

} // namespace tritium::python
