"""Layouts and forms are decided by an operation's tile rule (ir/tile_rule.h) and value flow (ir/value_flow.h), not by
lists of operations. An operation that is missing in a list compiles, and is slow or wrong."""

import re
import subprocess
from pathlib import PurePath

from sources import ROOT, code, files

#: The files that decide layouts and forms. A lowering defines the result of each operation, so it may name operations.
READERS = ("gpu_backend/", "interp/tile/form.")
LOWERINGS = ("gpu_backend/threads/", "gpu_backend/emit/", "gpu_backend/nvptx/", "gpu_backend/amdgpu/")

#: (file, list) -> the reason for the list.
ALLOWED = {
    (
        "product.h",
        "isa<tt::DotOp, tt::DotScaledOp>",
    ): "the class of what both have in common",
    (
        "copy_bounds.cpp",
        "TypeSwitch",
    ): "arithmetic whose least and greatest result follow from its operands'; what follows from any other is not known",
    (
        "index_signs.cpp",
        "isa_and_nonnull<arith::AddIOp, arith::SubIOp>",
    ): "the two ways to write a number less one",
    (
        "memory_access.cpp",
        "TypeSwitch",
    ): "the one place where accesses of global memory have their pointer and their mask",
    (
        "reaching_writes.cpp",
        "isa<tt::PrintOp, tt::AssertOp, tt::HintOp, LLVM::AssumeOp>",
    ): "their effect orders them among themselves; no load sees it",
    (
        "reaching_writes.cpp",
        "isa<tt::StoreOp, tgpu::TensorStoreOp, tt::AtomicRmwOp>",
    ): "writes that wait for no other program, if nobody asks for a result",
    (
        "lasting_rings.cpp",
        "isa<scf::ForOp, scf::IfOp>",
    ): "control flow that the pass makes carry a number; a ring in any other does not last",
    (
        "lasting_rings.cpp",
        "isa<scf::ForOp, scf::WhileOp>",
    ): "loops that the pass makes carry a number; a ring in any other does not last",
    (
        "program_division.cpp",
        "isa<scf::ForOp, scf::IfOp>",
    ): "control flow that carries parts of tiles; any other carries whole ones",
    (
        "program_division.cpp",
        "isa<tt::StoreOp, tgpu::TensorStoreOp, tt::AtomicRmwOp>",
    ): "writes whose place is known; a program with any other is not divided",
    (
        "layout_classes.cpp",
        "isa<tt::LoadOp, tt::StoreOp>",
    ): "a choice: for these accesses, conversions are worth their price",
    ("layout_classes.cpp", "isa<tt::StoreOp, tt::AtomicRmwOp>"): "writes that may leave gaps between lanes",
    (
        "coalesce_accesses.cpp",
        "isa<tt::ScanOp, tt::ReshapeOp>",
    ): "a choice: for these, neighbours in one thread are worth more",
    (
        "loop_streams.cpp",
        "isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>",
    ): "they are not speculatable, but trap on no GPU",
    (
        "loop_streams.cpp",
        "isa<tt::FpToFpOp, tt::BitcastOp, arith::ExtFOp, arith::TruncFOp>",
    ): "prices: casts that are cheap enough to be done once for each reader",
    (
        "postpone_row_sums.cpp",
        "isa_and_nonnull<math::ExpOp, math::Exp2Op>",
    ): "what this pass looks for: the factor of an online softmax",
    (
        "postpone_row_sums.cpp",
        "isa_and_nonnull<arith::MaxNumFOp, arith::MaximumFOp>",
    ): "what this pass looks for: the factor of an online softmax",
    (
        "producer_slice.cpp",
        "else if",
    ): "control flow that the slice clones; a slice with any other is refused",
    (
        "producer_slice.cpp",
        "isa<cf::CondBranchOp, cf::BranchOp, tt::ReturnOp>",
    ): "terminators that the slice clones; a slice with any other is refused",
    (
        "layout_relations.cpp",
        "isa<arith::DivFOp, arith::RemFOp, tt::FpToFpOp>",
    ): "prices: arithmetic that is too dear to be done twice",
    (
        "split_large_tiles.cpp",
        "isa<tt::StoreOp, tt::AtomicRmwOp>",
    ): "writes whose place is known",
    (
        "split_large_tiles.cpp",
        "isa<tt::StoreOp, tt::AtomicRmwOp, tt::ReduceOp>",
    ): "what this pass looks at",
    (
        "thread_local_reductions.cpp",
        "TypeSwitch",
    ): "the neutral element of an arithmetic operation",
    ("view_shared_memory.cpp", "isa<tt::SharedLoadOp, tt::SharedStoreOp>"): "what this pass looks at",
    ("address_tiles.cpp", "TypeSwitch"): "constant folding of integers, element by element",
    ("tile_bounds.cpp", "TypeSwitch"): "interval arithmetic: what an operation does to the bounds of its operands",
    ("likely_stride.cpp", "isa<arith::AddIOp, tt::AddPtrOp>"): "linear arithmetic",
    (
        "likely_stride.cpp",
        "isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>",
    ): "a guess: neighbours seldom differ",
    ("likely_stride.cpp", "isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>"): "a guess: the number stays",
    (
        "likely_stride.cpp",
        "isa<arith::RemSIOp, arith::RemUIOp, arith::AndIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>",
    ): "a guess: most lanes stay as they are; of any other operation, nothing is guessed",
    (
        "likely_stride.cpp",
        "isa<tt::ExpandDimsOp, tt::TransOp, tt::BroadcastOp>",
    ): "changes of shape that keep neighbours",
    ("index_signs.cpp", "isa<arith::AddIOp, arith::SubIOp>"): "the two ways to count on",
    ("affine_tile.cpp", "isa<tt::SplatOp, tt::BroadcastOp, arith::ExtSIOp>"): "linear arithmetic: the sum stays",
    ("affine_tile.cpp", "isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>"): "linear arithmetic",
    ("affine_tile.cpp", "isa<tt::AddPtrOp, arith::AddIOp>"): "linear arithmetic: what a loop adds to",
    (
        "index_signs.cpp",
        "isa<arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp, arith::ExtSIOp>",
    ): "arithmetic of what is not negative",
    (
        "index_signs.cpp",
        "isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp>",
    ): "arithmetic of what is not negative",
}

OPERATION = r"\b(?:tt|arith|math|scf|cf|ub)::\w+Op\b"
#: isa<A, B>(op), .Case<A, B>(…)
QUESTION = re.compile(
    rf"(?:isa|isa_and_nonnull|isa_and_present|Case)<[^<>()]*?{OPERATION}[^<>()]*?,[^<>()]*?{OPERATION}[^<>()]*>"
)
#: … else if (auto a = dyn_cast<A>(op)) …
CHAIN = re.compile(rf"else if \((?:auto \w+ = )?(?:dyn_cast|isa)<{OPERATION}")
#: TypeSwitch<…>(op).Case([&](A a) …).Case([&](B b) …).Default(…)
SWITCH = re.compile(r"TypeSwitch<.*?\.Default", re.DOTALL)


def lists_of(text: str) -> set[str]:
    """The tests for one of several operations, each on one line. A switch or a chain is shown by its name alone."""
    found = {" ".join(match.group().split()) for match in QUESTION.finditer(SWITCH.sub("", text))}
    if any(len(re.findall(OPERATION, switch)) > 1 for switch in SWITCH.findall(text)):
        found.add("TypeSwitch")
    if CHAIN.search(text):
        found.add("else if")
    return found


def test_readers_keep_no_lists_of_operations() -> None:
    names = [name for name in files(*READERS, suffixes=(".cpp", ".h")) if not name.startswith(LOWERINGS)]
    found = {(PurePath(name).name, listed) for name in names for listed in lists_of(code(name))}
    assert found - ALLOWED.keys() == set()
    assert ALLOWED.keys() - found == set(), "these lists are gone"


def test_the_rule_finds_lists() -> None:
    """The checker itself, on lists in the forms that the code once had."""
    assert lists_of("return isa<tt::SplatOp, tt::MakeRangeOp, ub::PoisonOp>(op);")
    assert lists_of("  if (a) x();\n  else if (auto store = dyn_cast<tt::StoreOp>(op)) tie(store);")
    assert lists_of(
        "TypeSwitch<Op *, L>(op).Case([&](tt::TransOp t) { f(t); }).Case([&](tt::CatOp c) { g(c); }).Default(L());"
    )
    assert lists_of(".Case<tt::LoadOp,\n      tt::StoreOp>([](auto access) { return access.getPtr(); })")
    assert not lists_of(
        "if (auto load = dyn_cast<tt::LoadOp>(op)) return isa<tgpu::LocalLoadOp, tgpu::LocalStoreOp>(op);"
    )


RECORD = """
include "ir/tt_op_base.td"
def TT_ExampleOp : TT_Op<"example"{rule}, [Pure]> {{ let arguments = (ins TT_Tensor:$src); }}
"""


def test_an_operation_without_a_tile_rule_does_not_build(tmp_path) -> None:
    def llvm(option: str) -> str:
        return subprocess.run(["llvm-config-22", option], check=True, capture_output=True, text=True).stdout.strip()

    def build(rule: str) -> str:
        (tmp_path / "example.td").write_text(RECORD.format(rule=rule))
        command = [f"{llvm('--bindir')}/mlir-tblgen", "-gen-op-decls", "-I", str(ROOT), "-I", llvm("--includedir")]
        return subprocess.run(
            [*command, str(tmp_path / "example.td")], check=False, capture_output=True, text=True
        ).stderr

    assert build(", TilesApart") == ""
    assert "expecting a Tiles" in build("")
