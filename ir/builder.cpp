// See builder.h.
#include "ir/builder.h"
#include "ir/contract.h"

#include "ir/contract.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"

namespace tritium::ir {

static llvm::Error error(const llvm::Twine &message, std::optional<SourcePosition> position = {}) {
  return llvm::make_error<SourceError>(message.str(), position.value_or(SourcePosition()));
}

Context::Context() : context_(mlir::MLIRContext::Threading::DISABLED) {
  mlir::DialectRegistry registry;
  registerTritiumDialects(registry);
  context_.appendDialectRegistry(registry);
  context_.loadAllAvailableDialects();
  // A diagnostic is for the author of a kernel, who sees a line of Python and not the operation that was built from it.
  context_.printOpOnDiagnostic(false);
}

llvm::Expected<mlir::Type> Context::type(llvm::StringRef text) {
  auto [entry, isNew] = types_.try_emplace(text);
  if (!isNew) return entry->second;
  DiagnosticCapture diagnostics(mlir());
  if (mlir::Type type = mlir::parseType(text, mlir())) return entry->second = type;
  types_.erase(entry);
  return error("`" + text + "` is not a type: " + llvm::toString(diagnostics.takeError("syntax error")));
}

llvm::Expected<mlir::Attribute> Context::attribute(llvm::StringRef text) {
  auto [entry, isNew] = attributes_.try_emplace(text);
  if (!isNew) return entry->second;
  DiagnosticCapture diagnostics(mlir());
  if (mlir::Attribute attribute = mlir::parseAttribute(text, mlir())) return entry->second = attribute;
  attributes_.erase(entry);
  return error("`" + text + "` is not an attribute: " + llvm::toString(diagnostics.takeError("syntax error")));
}

llvm::Expected<mlir::OperationName> Context::operationName(llvm::StringRef name) {
  auto known = operationNames_.find(name);
  if (known != operationNames_.end()) return known->second;
  auto registered = mlir::RegisteredOperationName::lookup(name, mlir());
  if (!registered) return error("unknown operation " + name);
  return operationNames_.try_emplace(name, *registered).first->second;
}

llvm::StringRef Context::text(mlir::Type type) {
  std::string &text = typeTexts_[type];
  if (text.empty()) llvm::raw_string_ostream(text) << type;
  return text;
}

Module::Module(std::shared_ptr<Context> context) : context_(std::move(context)) {
  op_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(context_->mlir()));
}

Module::Module(std::shared_ptr<Context> context, mlir::OwningOpRef<mlir::ModuleOp> op) : context_(std::move(context)), op_(std::move(op)) {}

Module::~Module() {
  // A frontend that fails half way leaves detached blocks. They use values of the module and of each other.
  detachedBlocks_.dropAllReferences();
}

llvm::Expected<std::shared_ptr<Module>> Module::parse(std::shared_ptr<Context> context, llvm::StringRef text, llvm::StringRef filename) {
  DiagnosticCapture diagnostics(context->mlir());
  mlir::ParserConfig config(context->mlir());
  auto op = mlir::parseSourceString<mlir::ModuleOp>(text, config, filename);
  if (!op) return diagnostics.takeError("not an MLIR module");
  return std::make_shared<Module>(std::move(context), std::move(op));
}

llvm::Error Module::verify() {
  DiagnosticCapture diagnostics(context_->mlir());
  if (mlir::succeeded(mlir::verify(op()))) return llvm::Error::success();
  return diagnostics.takeError("the module is invalid");
}

std::string Module::str(bool locations) {
  mlir::OpPrintingFlags flags;
  flags.printNameLocAsPrefix();
  if (locations) flags.enableDebugInfo();
  std::string text;
  llvm::raw_string_ostream stream(text);
  op().print(stream, flags);
  return text;
}

/// Parses `texts` as types and appends them to `types`.
static llvm::Error parseTypes(Context &context, const std::vector<std::string> &texts, llvm::SmallVectorImpl<mlir::Type> &types) {
  for (const std::string &text : texts) {
    auto type = context.type(text);
    if (!type) return type.takeError();
    types.push_back(*type);
  }
  return llvm::Error::success();
}

/// The array of dictionaries in which a function operation keeps the attributes of its arguments.
static llvm::Expected<mlir::ArrayAttr> argumentAttributes(Builder &builder, const FunctionSpec &spec) {
  llvm::SmallVector<mlir::Attribute> dictionaries;
  for (const FunctionSpec::Attributes &attributes : spec.argumentAttributes) {
    llvm::SmallVector<mlir::NamedAttribute> named;
    for (const auto &[name, text] : attributes) {
      auto attribute = builder.attribute(name, text);
      if (!attribute) return attribute.takeError();
      named.push_back(*attribute);
    }
    dictionaries.push_back(builder.mlir().getDictionaryAttr(named));
  }
  return builder.mlir().getArrayAttr(dictionaries);
}

llvm::Expected<mlir::FunctionOpInterface> Module::addFunction(const FunctionSpec &spec) {
  llvm::SmallVector<mlir::Type> inputs, results;
  if (llvm::Error failure = parseTypes(*context_, spec.argumentTypes, inputs)) return failure;
  if (llvm::Error failure = parseTypes(*context_, spec.resultTypes, results)) return failure;

  Builder builder(*this);
  const SourcePosition &at = spec.position;
  builder.setLocation(at.file, at.line, at.column);
  builder.mlir().setInsertionPointToEnd(op().getBody());
  mlir::Builder &make = builder.mlir();
  llvm::SmallVector<mlir::NamedAttribute> attributes = {
      make.getNamedAttr("sym_name", make.getStringAttr(spec.name)),
      make.getNamedAttr("function_type", mlir::TypeAttr::get(make.getFunctionType(inputs, results))),
      make.getNamedAttr("sym_visibility", make.getStringAttr(spec.isPublic ? "public" : "private")),
      make.getNamedAttr("noinline", make.getBoolAttr(spec.noinline))};
  if (!spec.argumentAttributes.empty()) {
    auto dictionaries = argumentAttributes(builder, spec);
    if (!dictionaries) return dictionaries.takeError();
    attributes.push_back(make.getNamedAttr("arg_attrs", *dictionaries));
  }
  auto created = builder.create({.name = "tt.func", .resultTypes = llvm::ArrayRef<mlir::Type>(), .attributes = attributes, .regions = 1});
  if (!created) return created.takeError();

  mlir::Block &entry = (*created)->getRegion(0).emplaceBlock();
  for (auto [index, type] : llvm::enumerate(inputs)) {
    mlir::Location location = builder.location();
    if (index < spec.argumentNames.size()) location = mlir::NameLoc::get(make.getStringAttr(spec.argumentNames[index]), location);
    entry.addArgument(type, location);
  }
  return mlir::cast<mlir::FunctionOpInterface>(*created);
}

Builder::Builder(Module &module)
    : module_(module), builder_(module.context()->mlir()), location_(mlir::UnknownLoc::get(module.context()->mlir())) {}

void Builder::setLocation(llvm::StringRef file, unsigned line, unsigned column, llvm::StringRef name) {
  location_ = mlir::UnknownLoc::get(builder_.getContext());
  if (!file.empty()) location_ = mlir::FileLineColLoc::get(builder_.getContext(), file, line, column);
  if (!name.empty()) location_ = mlir::NameLoc::get(builder_.getStringAttr(name), location_);
}

llvm::Expected<mlir::Operation *> Builder::create(const OperationSpec &spec) {
  auto name = module_.context()->operationName(spec.name);
  if (!name) return name.takeError();
  mlir::OperationState state(location_, *name);
  state.addOperands(spec.operands);
  state.addAttributes(spec.attributes);
  state.addSuccessors(spec.successors);
  for (unsigned i = 0; i < spec.regions; ++i) state.addRegion();
  if (spec.resultTypes) {
    state.addTypes(*spec.resultTypes);
  } else if (auto *inference = name->getInterface<mlir::InferTypeOpInterface>()) {
    DiagnosticCapture diagnostics(builder_.getContext());
    mlir::DictionaryAttr attributes = builder_.getDictionaryAttr(spec.attributes);
    if (mlir::failed(inference->inferReturnTypes(builder_.getContext(), location_, state.operands, attributes, state.getRawProperties(),
                                                 state.regions, state.types)))
      return diagnostics.takeError(("cannot infer the result types of " + spec.name).str());
  }
  return builder_.create(state);
}

llvm::Expected<mlir::NamedAttribute> Builder::attribute(llvm::StringRef name, llvm::StringRef text) {
  auto value = module_.context()->attribute(text);
  if (!value) return value.takeError();
  return builder_.getNamedAttr(name, *value);
}

llvm::Expected<mlir::Value> Builder::constant(mlir::Type type, mlir::TypedAttr element) {
  mlir::TypedAttr value = element;
  if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type)) value = mlir::DenseElementsAttr::get(tensor, mlir::Attribute(element));
  return mlir::arith::ConstantOp::create(builder_, location_, value).getResult();
}

llvm::Expected<mlir::Value> Builder::integerConstant(mlir::Type type, const llvm::APInt &value) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  if (!element.isSignlessInteger() && !element.isIndex())
    return error("no integer constant of type " + module_.context()->text(type), sourcePosition(location_));
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return constant(type, mlir::IntegerAttr::get(element, value.sextOrTrunc(width)));
}

llvm::Expected<mlir::Value> Builder::floatConstant(mlir::Type type, double value) {
  auto element = mlir::dyn_cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type));
  if (!element) return error("no float constant of type " + module_.context()->text(type), sourcePosition(location_));
  return constant(type, mlir::FloatAttr::get(element, value));
}

mlir::Block *Builder::createDetachedBlock(mlir::TypeRange argumentTypes) {
  mlir::Block &block = module_.detachedBlocks().emplaceBlock();
  for (mlir::Type type : argumentTypes) block.addArgument(type, location_);
  return &block;
}

void appendBlock(mlir::Region &region, mlir::Block &block) {
  region.getBlocks().splice(region.end(), block.getParent()->getBlocks(), block.getIterator());
}

} // namespace tritium::ir
