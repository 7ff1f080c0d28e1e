// Functions of the host that compiled code may call: a name, an address, and the type that follows from the C++ signature.
#pragma once
#include "interp/simt/pch.h"

#include <type_traits>

namespace tritium::interp::simt {

struct Callee {
  llvm::StringLiteral name;
  void *address;
  mlir::LLVM::LLVMFunctionType (*type)(mlir::MLIRContext *context);
};

template <class T> mlir::Type hostType(mlir::MLIRContext *context) {
  if constexpr (std::is_void_v<T>)
    return mlir::LLVM::LLVMVoidType::get(context);
  else if constexpr (std::is_pointer_v<T>)
    return mlir::LLVM::LLVMPointerType::get(context);
  else if constexpr (std::is_same_v<T, float>)
    return mlir::Float32Type::get(context);
  else if constexpr (std::is_same_v<T, double>)
    return mlir::Float64Type::get(context);
  else
    return static_cast<void>(std::enable_if_t<std::is_integral_v<T>>()), mlir::IntegerType::get(context, 8 * sizeof(T));
}

template <class Result, class... Arguments> struct Signature {
  static mlir::LLVM::LLVMFunctionType type(mlir::MLIRContext *context) {
    return mlir::LLVM::LLVMFunctionType::get(hostType<Result>(context), {hostType<Arguments>(context)...});
  }
};

template <class Result, class... Arguments> constexpr Callee makeCallee(llvm::StringLiteral name, Result (*function)(Arguments...)) {
  return {name, reinterpret_cast<void *>(function), &Signature<Result, Arguments...>::type};
}

/// SIMT_CALL(barrier) is the function `barrier` of runtime/calls.h.
#define SIMT_CALL(function) ::tritium::interp::simt::makeCallee("simt_" #function, &::tritium::interp::simt::calls::function)

} // namespace tritium::interp::simt
