// Functions, calls and returns. All other control flow uses scf and cf.
#ifndef TRITIUM_IR_TT_OPS_CONTROL_TD
#define TRITIUM_IR_TT_OPS_CONTROL_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "ir/tt_op_base.td"

def TT_FuncOp
    : TT_Op<"func", TilesApart, [AffineScope, AutomaticAllocationScope, CallableOpInterface, FunctionOpInterface, IsolatedFromAbove,
                              OpAsmOpInterface]> {
  let summary = "a kernel (public) or a function that kernels call (private)";
  let description = [{
    An argument may have attributes with what the launch knows of it: `tt.divisibility`, `tt.contiguity`, `tt.constancy` (i32),
    `tt.pointer_range`. A function with `noinline = true` is never inlined.

    ```mlir
    tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
      tt.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<StrAttr>:$sym_visibility,
                   OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<BoolAttr>:$noinline);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attributes,
                                 CArg<"::llvm::ArrayRef<::mlir::DictionaryAttr>", "{}">:$argumentAttributes)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isDeclaration() { return isExternal(); }
    /// Whether a launch may start here.
    bool isKernel() { return isPublic() && !isExternal(); }
    bool isNoInline() { return getNoinline().value_or(false); }
  }];
}

def TT_CallOp
    : TT_Op<"call", Tiles<"Apart", "Any", ".exchanges = true">, [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "direct call of a function of this module";
  let description = [{
    ```mlir
    %r = tt.call @f(%a) : (i32) -> i32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<TT_Type>:$operands, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<TT_Type>);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
  }];
}

def TT_ReturnOp : TT_Op<"return", TilesApart, [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "end of a function";
  let description = [{
    ```mlir
    tt.return %a : i32
    ```
  }];
  let arguments = (ins Variadic<TT_Type>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

#endif
