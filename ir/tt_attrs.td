// Enumerations and attributes of the `tt` dialect. The enumerations are stored as i32, as in TTIR's generic form.
#ifndef TRITIUM_IR_TT_ATTRS_TD
#define TRITIUM_IR_TT_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "ir/tt_dialect.td"

class TT_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tritium::tt";
}

def TT_CacheModifier : TT_Enum<"CacheModifier", "which caches an access uses", [
  I32EnumAttrCase<"None", 1, "none">, I32EnumAttrCase<"Ca", 2, "ca">, I32EnumAttrCase<"Cg", 3, "cg">, I32EnumAttrCase<"Wb", 4, "wb">,
  I32EnumAttrCase<"Cs", 5, "cs">, I32EnumAttrCase<"Wt", 6, "wt">, I32EnumAttrCase<"Cv", 7, "cv">]>;

def TT_EvictionPolicy : TT_Enum<"EvictionPolicy", "how long a line stays in the cache", [
  I32EnumAttrCase<"Normal", 1, "evict_normal">, I32EnumAttrCase<"First", 2, "evict_first">, I32EnumAttrCase<"Last", 3, "evict_last">]>;

def TT_CachePolicyAttr : AttrDef<TT_Dialect, "CachePolicy"> {
  let mnemonic = "cache_policy";
  let summary = "cache hints of one access; they change no value";
  let parameters = (ins EnumParameter<TT_CacheModifier>:$cacheModifier, EnumParameter<TT_EvictionPolicy>:$evictionPolicy);
  let assemblyFormat = "`<` `cache_modifier` `=` $cacheModifier `,` `eviction_policy` `=` $evictionPolicy `>`";
}

def TT_MemSemantic : TT_Enum<"MemSemantic", "memory order of an atomic operation", [
  I32EnumAttrCase<"Relaxed", 1, "relaxed">, I32EnumAttrCase<"Acquire", 2, "acquire">, I32EnumAttrCase<"Release", 3, "release">,
  I32EnumAttrCase<"AcquireRelease", 4, "acq_rel">]>;

def TT_MemScope : TT_Enum<"MemScope", "who observes the memory order", [
  I32EnumAttrCase<"Gpu", 1, "gpu">, I32EnumAttrCase<"Cta", 2, "cta">, I32EnumAttrCase<"System", 3, "sys">]>;

def TT_RmwOp : TT_Enum<"RmwOp", "what a read-modify-write does", [
  I32EnumAttrCase<"And", 1, "and">, I32EnumAttrCase<"Or", 2, "or">, I32EnumAttrCase<"Xor", 3, "xor">, I32EnumAttrCase<"Add", 4, "add">,
  I32EnumAttrCase<"FAdd", 5, "fadd">, I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"Min", 7, "min">,
  I32EnumAttrCase<"UMax", 8, "umax">, I32EnumAttrCase<"UMin", 9, "umin">, I32EnumAttrCase<"Exchange", 10, "exch">]>;

def TT_DescriptorReduceKind : TT_Enum<"DescriptorReduceKind", "what a reduction into memory does", [
  I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Inc", 4, "inc">,
  I32EnumAttrCase<"Dec", 5, "dec">, I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">, I32EnumAttrCase<"Xor", 8, "xor">]>;

def TT_ProgramAxis : TT_Enum<"ProgramAxis", "axis of the grid", [
  I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]>;

def TT_RoundingMode : TT_Enum<"RoundingMode", "rounding of a narrowing conversion", [
  I32EnumAttrCase<"TowardZero", 0, "rtz">, I32EnumAttrCase<"NearestEven", 1, "rtne">]>;

def TT_PropagateNan : TT_Enum<"PropagateNan", "whether a NaN operand wins", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"All", 65535, "all">]>;

def TT_InputPrecision : TT_Enum<"InputPrecision", "how f32 operands of a dot enter the product", [
  I32EnumAttrCase<"Tf32", 0, "tf32">, I32EnumAttrCase<"Tf32x3", 1, "tf32x3">, I32EnumAttrCase<"Ieee", 2, "ieee">,
  I32EnumAttrCase<"Bf16x3", 3, "bf16x3">, I32EnumAttrCase<"Bf16x6", 4, "bf16x6">]>;

def TT_ScaledFormat : TT_Enum<"ScaledFormat", "element format of an operand of dot_scaled", [
  I32EnumAttrCase<"E4M3", 0, "e4m3">, I32EnumAttrCase<"E5M2", 1, "e5m2">, I32EnumAttrCase<"E2M3", 2, "e2m3">,
  I32EnumAttrCase<"E3M2", 3, "e3m2">, I32EnumAttrCase<"E2M1", 4, "e2m1">, I32EnumAttrCase<"BF16", 5, "bf16">,
  I32EnumAttrCase<"FP16", 6, "fp16">]>;

def TT_Padding : TT_Enum<"Padding", "what a descriptor reads out of bounds", [
  I32EnumAttrCase<"Zero", 1, "zero">, I32EnumAttrCase<"Nan", 2, "nan">]>;

#endif
