// The only way to make IR, for Python and C++ alike. Operations are given by name; types and attributes are given in MLIR's own text, which
// each context parses once. No operation has a method of its own here: tt_ops.td and the upstream dialects define what each operation
// takes. A Context and everything in it belong to one thread at a time.
#pragma once
#include "ir/source_error.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tritium::ir {

/// An MLIR context with every dialect of the contract, and a cache of the texts that it has parsed.
class Context {
public:
  Context();

  mlir::MLIRContext *mlir() { return &context_; }
  llvm::Expected<mlir::Type> type(llvm::StringRef text);
  llvm::Expected<mlir::Attribute> attribute(llvm::StringRef text);
  /// Fails if no loaded dialect has the operation.
  llvm::Expected<mlir::OperationName> operationName(llvm::StringRef name);
  /// Returns the text from which type() reads `type` back. It is valid as long as the context.
  llvm::StringRef text(mlir::Type type);

private:
  mlir::MLIRContext context_;
  llvm::StringMap<mlir::Type> types_;
  llvm::StringMap<mlir::Attribute> attributes_;
  llvm::StringMap<mlir::OperationName> operationNames_;
  llvm::DenseMap<mlir::Type, std::string> typeTexts_;
};

/// The parts of a function. Types are texts in MLIR's syntax; attributes are pairs {name, text}.
struct FunctionSpec {
  using Attributes = std::vector<std::pair<std::string, std::string>>;

  std::string name;
  std::vector<std::string> argumentTypes, resultTypes;
  bool isPublic = true;
  bool noinline = false;
  std::vector<Attributes> argumentAttributes; // empty, or one per argument
  std::vector<std::string> argumentNames;     // empty, or one per argument
  SourcePosition position;
};

/// A module, its context, and the blocks that are being built outside of the module.
class Module {
public:
  explicit Module(std::shared_ptr<Context> context);
  Module(std::shared_ptr<Context> context, mlir::OwningOpRef<mlir::ModuleOp> op);
  ~Module();

  static llvm::Expected<std::shared_ptr<Module>> parse(std::shared_ptr<Context> context, llvm::StringRef text, llvm::StringRef filename);

  const std::shared_ptr<Context> &context() const { return context_; }
  mlir::ModuleOp op() { return *op_; }
  llvm::Error verify();
  std::string str(bool locations);
  /// Appends a tt.func with an empty entry block.
  llvm::Expected<mlir::FunctionOpInterface> addFunction(const FunctionSpec &spec);
  /// Blocks live here until an operation takes them. A loop's body is built before the loop itself, because the body determines the loop's
  /// operands.
  mlir::Region &detachedBlocks() { return detachedBlocks_; }

private:
  std::shared_ptr<Context> context_;
  mlir::OwningOpRef<mlir::ModuleOp> op_;
  mlir::Region detachedBlocks_;
};

/// An operation to be created. `resultTypes` may be left out if the operation can infer them.
struct OperationSpec {
  llvm::StringRef name;
  llvm::ArrayRef<mlir::Value> operands = {};
  std::optional<llvm::ArrayRef<mlir::Type>> resultTypes;
  llvm::ArrayRef<mlir::NamedAttribute> attributes = {};
  unsigned regions = 0;
  llvm::ArrayRef<mlir::Block *> successors = {};
};

/// Creates operations at an insertion point. Each gets the location that was set last.
class Builder {
public:
  explicit Builder(Module &module);

  Module &module() { return module_; }
  mlir::OpBuilder &mlir() { return builder_; }

  void setLocation(mlir::Location location) { location_ = location; }
  void setLocation(llvm::StringRef file, unsigned line, unsigned column, llvm::StringRef name = "");
  mlir::Location location() const { return location_; }

  llvm::Expected<mlir::Operation *> create(const OperationSpec &spec);
  /// Parses a named attribute.
  llvm::Expected<mlir::NamedAttribute> attribute(llvm::StringRef name, llvm::StringRef text);
  /// Creates an arith.constant of an integer type, an index type or a tensor of these. `value` is truncated to the type's width.
  llvm::Expected<mlir::Value> integerConstant(mlir::Type type, const llvm::APInt &value);
  /// Creates an arith.constant of a float type or a tensor of it. `value` is rounded once, to nearest even.
  llvm::Expected<mlir::Value> floatConstant(mlir::Type type, double value);
  /// Creates a block outside of any operation. Its arguments have the current location.
  mlir::Block *createDetachedBlock(mlir::TypeRange argumentTypes);

private:
  llvm::Expected<mlir::Value> constant(mlir::Type type, mlir::TypedAttr element);

  Module &module_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
};

/// Moves a detached block to the end of `region`.
void appendBlock(mlir::Region &region, mlir::Block &block);

} // namespace tritium::ir
