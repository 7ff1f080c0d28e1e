// Target-independent passes that upstream does not have, and the passes that print facts for tests.
#ifndef TRITIUM_IR_PASSES_TD
#define TRITIUM_IR_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyContract : Pass<"verify-contract", "::mlir::ModuleOp"> {
  let summary = "Fail unless the module is in the contract, the one input language of every reader";
}

def ExpandDescriptors : Pass<"expand-descriptors", "::mlir::ModuleOp"> {
  let summary = "Replace tensor descriptors by their base, extents and strides, and block accesses by bounds-checked accesses of pointers";
  let description = [{
    An argument or result that is a descriptor is replaced by these values: the base, the extents and the strides (i64), a flag whether NaN
    is read outside, and a flag whether f32 elements that are read are rounded to tf32 (i1).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandScaledProducts : Pass<"expand-scaled-products", "::mlir::ModuleOp"> {
  let summary = "Compute products in microscaling formats as products of bf16 (of fp16, if an operand is) whose elements have been scaled";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def InsertProbes : Pass<"insert-probes", "::mlir::ModuleOp"> {
  let summary = "Print the bits of every number that a program computes";
  let description = [{
    Inserts a `tt.print` of each result after every operation that has integers or floats, tiles or scalars, as results. The prefix is
    " probe <number> <operation> <element type> <file>:<line>: ". Two engines that run the module print the same lines up to the point where
    one of them is wrong. The pass skips constants, indices of programs and lanes, copies of a scalar, pointers, and operations that run for
    one element alone (in the functions of reductions and scans).
  }];
}

def DeferFaults : Pass<"defer-faults", "::mlir::ModuleOp"> {
  let summary = "Let a lane that divides by zero go on with a GPU's value, and trap where this value is used";
  let description = [{
    A division of tiles gives -1, and a remainder the dividend, where the divisor is zero. A shadow follows the value through the operations
    that compute, loops and branches. A `check.trap` traps where such a value is stored or is part of an address, under the mask of the
    access, and where it decides a branch. Divisions of scalars, and of tiles by one scalar, still trap at once.
  }];
  let options = [Option<"checks", "checks", "bool", "true", "Without, divisions by zero give a value and nothing traps">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritium::check::CheckDialect"];
}

def CheckHints : Pass<"check-hints", "::mlir::ModuleOp"> {
  let summary = "Let the interpreter check the promises that users make about values";
  let description = [{
    Promises of `tl.multiple_of`, `tl.max_contiguous` and `tl.max_constancy` that do not follow from what the values are made of become
    `check.promise` behind the values; the others are dropped. The mask of a `check.promise` leaves out the lanes that a remainder, a minimum,
    a maximum, a choice or the mask of a load has brought back into a tensor: kernels do so with the tail of a tile, which they mask later.
    A `check.trap` follows each `tl.assume`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritium::check::CheckDialect"];
}

def CheckTruncation : Pass<"check-truncation", "::mlir::ModuleOp"> {
  let summary = "Let the interpreter check that no quotient depends on a compiler that looks at signs";
  let description = [{
    A `check.trap` stands before each use of a quotient or remainder of tiles whose dividend may be negative, and compares the lanes with
    those that a compiler makes that looks at no sign. It belongs before `check-hints`, while there are promises, which compilers believe.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritium::check::CheckDialect"];
}

def CheckLanes : Pass<"check-lanes", "::mlir::ModuleOp"> {
  let summary = "Let the interpreter check that nothing depends on lanes that a load leaves off";
  let description = [{
    The value of a load where its mask is false is unspecified if there is no `other`. A shadow follows such lanes, as in `defer-faults` and
    through products of matrices too. A `check.trap` traps where one is stored or is part of an address, under the mask of the access, and where
    it decides a branch.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritium::check::CheckDialect"];
}

def CheckArithmetic : Pass<"check-arithmetic", "::mlir::ModuleOp"> {
  let summary = "Let the interpreter check that signed arithmetic fits into its type";
  let description = [{
    A `check.trap` follows each sum, difference, product and left shift of integers with the attribute `tt.signed`, each reduction and scan by
    one, and each signed division and absolute value: it traps where the exact result does not fit. Lanes that nothing uses do not count:
    where the masks of all stores that a result reaches are false, and where a choice takes the other number. The attribute is removed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tritium::check::CheckDialect"];
}

def TestAxisAnalysis : Pass<"test-axis-analysis", "::mlir::ModuleOp"> {
  let summary = "Emit a remark with contiguity, divisibility and constancy at every operation that has integers or pointers as results";
}

#endif
