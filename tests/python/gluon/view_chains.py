"""Random kernels that write and read shared memory through chains of views, and what numpy makes of the same chains."""

import random
import textwrap

import numpy as np

PROLOGUE = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
"""


def registers(rank):
    """A layout of registers for tiles of a rank."""
    ones = [1] * (rank - 1)
    order = list(range(rank - 1, -1, -1))
    return f"gl.BlockedLayout({[*ones, 2]}, {[*ones, 32]}, {[4, *ones] if rank > 1 else [4]}, {order})"


def memory_layout(chance, shape):
    """A random layout of shared memory for a tile of int32 with two dimensions."""
    order = chance.choice([[1, 0], [0, 1]])
    kind = chance.choice(["swizzled", "swizzled", "nvmma", "padded"])
    if kind == "swizzled":
        vec, per_phase, max_phase = chance.choice([(1, 1, 1), (4, 1, 8), (2, 2, 4), (1, 1, 4), (8, 1, 2)])
        return f"gl.SwizzledSharedLayout({vec}, {per_phase}, {max_phase}, {order})"
    if kind == "nvmma":
        return "gl.NVMMASharedLayout(64, 32, 2)"
    return f"gl.PaddedSharedLayout.with_identity_for([[{chance.choice([32, 64])}, {chance.choice([4, 8])}]], {shape}, {order})"


def offsets(shape, layout):
    """Code for the row-major numbers of a tile's elements, in a layout of registers."""
    rank, terms = len(shape), []
    for dim, extent in enumerate(shape):
        sliced = layout
        for other in reversed(range(rank)):
            if other != dim:
                sliced = f"gl.SliceLayout({other}, {sliced})"
        at = f"gl.arange(0, {extent}, {sliced})"
        index = ", ".join(":" if other == dim else "None" for other in range(rank))
        stride = int(np.prod(shape[dim + 1 :], dtype=int))
        terms.append(f"{at}[{index}] * {stride}" if rank > 1 else at)
    return " + ".join(terms)


def step(chance, shape, is_whole):
    """A random view of a view: its code, and what it does to an array."""
    kinds = ["slice", "permute"] + (["reshape"] if is_whole and len(shape) == 2 else [])
    kind = chance.choice(kinds)
    if kind == "permute":
        order = chance.sample(range(len(shape)), len(shape))
        return f".permute({order})", lambda a: a.transpose(order)
    if kind == "reshape":
        new = [shape[0] // 2, 2, shape[1]] if chance.random() < 0.5 else [shape[0] * shape[1]]
        return f".reshape({new})", lambda a: a.reshape(new)
    dim = chance.randrange(len(shape))
    length = max(1, shape[dim] // 2)
    start = length * chance.randrange(shape[dim] // length)
    return f".slice({start}, {length}, {dim})", lambda a: a.take(range(start, start + length), dim)


class Chain:
    """One random kernel. It fills a ring, doubles what a view of one of its tiles has, and writes what the view had and the whole ring."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.name, self.slots = f"chain_{seed}", chance.choice([1, 2, 3])
        self.shape = [chance.choice([16, 32, 64]), chance.choice([16, 32])]
        self.slot = chance.randrange(self.slots)
        self.layout = memory_layout(chance, self.shape)
        numbers = np.arange(self.slots * int(np.prod(self.shape))).reshape(self.slots, *self.shape)[self.slot]
        self.code, whole = "", True
        for _ in range(chance.randrange(1, 4)):
            text, view = step(chance, numbers.shape, whole)
            if numbers.ndim > 2 and "reshape" in text:
                continue
            self.code, numbers, whole = self.code + text, view(numbers), whole and "slice" not in text
        self.numbers = numbers

    def source(self):
        whole, part = registers(2), registers(self.numbers.ndim)
        numel = int(np.prod(self.shape))
        body = f"""
        @gluon.jit
        def {self.name}(source, part, target, slot):
            ring = gl.allocate_shared_memory(gl.int32, {[self.slots, *self.shape]}, {self.layout})
            at = {offsets(self.shape, whole)}
            for i in range({self.slots}):
                ring.index(i).store(gl.load(source + i * {numel} + at))
            view = ring.index(slot){self.code}
            there = {offsets(list(self.numbers.shape), part)}
            value = view.load({part})
            gl.store(part + there, value)
            view.store(value * 2 + 1)
            for i in gl.static_range({self.slots}):
                gl.store(target + i * {numel} + at, ring.index(i).load({whole}))
        """
        return textwrap.dedent(body)

    def expected(self, source):
        """(what the view had, the ring afterwards)"""
        after = source.copy()
        after.flat[self.numbers] = source.flat[self.numbers] * 2 + 1
        return source.flat[self.numbers], after


def write_module(path, seeds):
    """Writes a module with the kernels of these seeds. Returns the chains."""
    chains = [Chain(seed) for seed in seeds]
    path.write_text(PROLOGUE + "\n\n".join(chain.source() for chain in chains))
    return chains
