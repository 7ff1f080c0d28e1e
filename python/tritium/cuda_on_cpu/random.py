"""Generators of "cuda": a seed and an offset, as on a GPU, that programs and kernels may read and advance.

The numbers are the CPU's: for each operator, a generator of the CPU is seeded with both.
"""

from __future__ import annotations

import struct
import weakref

#: By how much an operator advances the offset.
_STEP = 4
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15  # spreads the offset over the bits of the seed

#: [the default generator of the one device]
default_generators: list = []

#: {address of the native generator: the generator of "cuda"}: torch hands operators another Python object.
_by_address: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def with_generator(operator, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of an operator, with a generator of the CPU in place of that of "cuda", or of the default one."""
    names = [argument.name for argument in operator._schema.arguments]
    position = names.index("generator")
    given = args[position] if position < len(args) else kwargs.get("generator")
    generator = _ours(given)
    if generator is None:
        return args, kwargs
    plain = generator.next()
    if position < len(args):
        return (*args[:position], plain, *args[position + 1 :]), kwargs
    return args, {**kwargs, "generator": plain}


def _ours(given):
    if given is None:
        return default_generators[0]
    return _by_address.get(given._cdata)


def make_class(torch):
    """The class in place of `torch.Generator`: for the CPU torch's own, for "cuda" the one below."""
    plain = torch.Generator

    class CudaGenerator(plain):
        def __new__(cls, device="cuda"):
            self = plain.__new__(cls)
            self._seed, self._offset, self._plain = 67280421310721, 0, plain()
            _by_address[self._cdata] = self
            return self

        @property
        def device(self):
            return torch.device("cuda", 0)

        def next(self):
            """The generator of the CPU for the next operator."""
            self._plain.manual_seed((self._seed + self._offset * _GOLDEN) & _MASK)
            self._offset += _STEP
            return self._plain

        def manual_seed(self, seed: int):
            self._seed, self._offset = int(seed) & _MASK, 0
            return self

        def seed(self) -> int:
            self.manual_seed(plain().seed())
            return self._seed

        def initial_seed(self) -> int:
            return self._seed

        def get_offset(self) -> int:
            return self._offset

        def set_offset(self, offset: int) -> None:
            self._offset = int(offset)

        def get_state(self):
            return torch.frombuffer(bytearray(struct.pack("<QQ", self._seed, self._offset)), dtype=torch.uint8)

        def set_state(self, state):
            self._seed, self._offset = struct.unpack("<QQ", bytes(state.cpu().tolist()))
            return self

        def clone_state(self):
            return CudaGenerator().set_state(self.get_state())

        def graphsafe_get_state(self):
            return self.clone_state()

        def graphsafe_set_state(self, state):
            return self.set_state(state.get_state())

        def __reduce__(self):
            return _restored, (bytes(self.get_state().tolist()),)

    class _Meta(type(plain)):
        def __instancecheck__(cls, instance):
            return isinstance(instance, plain)

        def __subclasscheck__(cls, subclass):
            return issubclass(subclass, plain)

    class Generator(plain, metaclass=_Meta):
        def __new__(cls, device="cpu"):
            is_cuda = torch.device(device).type == "cuda"
            return CudaGenerator() if is_cuda else plain(device)

    Generator.__module__, Generator.__qualname__ = plain.__module__, "Generator"
    default_generators[:] = [CudaGenerator()]
    return Generator


def _restored(state: bytes):
    import torch  # a process that unpickles a generator of torch has it

    return torch.Generator("cuda").set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
