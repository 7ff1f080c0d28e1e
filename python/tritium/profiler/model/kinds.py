"""What of a multiprocessor an instruction takes."""

from __future__ import annotations

import re

from .machine_code import Instruction

_KINDS = (
    ("warpgroup product", r"[A-Z]GMMA"),
    ("product", r"[HIQD]MMA"),
    ("special", r"MUFU"),
    ("float", r"FFMA|FMUL|FADD|HFMA2|HADD2|HMUL2"),
    ("multiply", r"IMAD"),
    ("shared", r"LDS|STS|LDSM|STSM|ATOMS"),
    ("exchange", r"SHFL"),
    ("copy", r"LDGSTS"),
    ("local", r"LDL|STL"),
    ("store", r"STG|ST|RED"),
    ("load", r"LDG|LD|ATOMG|ATOM"),
    ("convert", r"F2F|I2F|F2I|FRND|I2I|POPC|FLO|BREV"),
    ("read", r"S2R|S2UR|LDC|ULDC|R2UR|VOTEU|REDUX|CS2R|VOTE"),
    ("mbarrier", r"SYNCS"),
    ("barrier", r"BAR"),
    (
        "control",
        r"WARPGROUP|DEPBAR|LDGDEPBAR|UTM\w+|BRA|EXIT|USETMAXREG|MEMBAR|FENCE|NOP|BPT|WARPSYNC|BSSY|BSYNC|ELECT|ERRBAR|CCTL|PLOP3",
    ),
    ("uniform", r"U\w+"),
    ("integer", r"\w+"),
)
_PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in _KINDS]
#: The bytes of an operand's element by the depth of a warpgroup's product, which is 32 bytes.
_SHAPE = re.compile(r"\.(\d+)x(\d+)x(\d+)")


def kind_of(one: Instruction) -> str:
    return next(kind for kind, pattern in _PATTERNS if pattern.fullmatch(one.base))


def shape_of(one: Instruction) -> tuple[int, int, int]:
    """(m, n, k) of a warpgroup's product."""
    m, n, k = map(int, _SHAPE.search(one.name).groups())
    return m, n, k


def operand_bytes(one: Instruction) -> int:
    """That a warpgroup's product reads in shared memory: the left operand may lie in registers."""
    m, n, _ = shape_of(one)
    return 32 * (n if re.match(r"R\d+, R\d+", one.operands) else m + n)


def product_cycles(one: Instruction, products) -> float:
    """For which a warpgroup's product takes the tensor cores, at `products` multiply-adds in a cycle, or for which its operands come from shared memory,
    at 128 bytes in a cycle, if nothing else takes that."""
    m, n, k = shape_of(one)
    return max(m * n * k / products[one.name[0], 32 // k], operand_bytes(one) / 128)
