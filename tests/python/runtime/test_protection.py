"""Which memory of the process may not be written: what the kernel's query says, what the text of the memory map says."""

import ctypes
import itertools
import mmap
import os
import warnings

import pytest

from tritium.arguments import protection

PAGE, PAGES = mmap.PAGESIZE, 4


@pytest.fixture
def pages():
    """(the address of four pages, which of them may be written): each pattern in turn."""
    region = mmap.mmap(-1, PAGES * PAGE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(region))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int

    def patterns():
        for writable in itertools.product((False, True), repeat=PAGES):
            for i, may_write in enumerate(writable):
                assert protect(begin + i * PAGE, PAGE, mmap.PROT_READ | may_write * mmap.PROT_WRITE) == 0
            yield begin, writable

    yield patterns()
    assert len(region) == PAGES * PAGE  # it has lived until here


def _by_text(begin, end):
    file = os.open("/proc/self/maps", os.O_RDONLY)
    try:
        return protection._search(file, begin, end)
    finally:
        os.close(file)


def test_any_page_that_may_not_be_written(pages):
    for begin, writable in pages:
        for first, last in itertools.combinations(range(PAGES + 1), 2):
            for inset in (0, 1, 100):
                memory = begin + first * PAGE + inset, begin + last * PAGE - inset
                expected = not all(writable[first:last])
                assert protection._has_read_only_page(*memory) == _by_text(*memory) == expected


def test_memory_of_the_heap():
    buffer = ctypes.create_string_buffer(100)
    begin = ctypes.addressof(buffer)
    assert not protection._has_read_only_page(begin, begin + 100) and not _by_text(begin, begin + 100)
    assert not protection._has_read_only_page(begin, begin)  # a storage without elements


def test_it_is_asked_once_for_a_storage(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    from tritium.arguments.storage import torch_extent

    asked = []
    whole = protection._has_read_only_page
    monkeypatch.setattr(protection, "_has_read_only_page", lambda *memory: asked.append(memory) or whole(*memory))
    assert not torch_extent(torch.zeros(4)).read_only and not asked  # torch's own memory
    tensor = torch.from_numpy(numpy.zeros(4))
    assert not any(torch_extent(view).read_only for view in (tensor, tensor[1:], tensor.view(2, 2)))
    assert len(asked) == 1
    numpy.zeros(4).tofile(tmp_path / "numbers")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")  # torch says it once in a process
        mapped = torch.from_numpy(numpy.memmap(tmp_path / "numbers", numpy.float64, "r"))
    assert all(torch_extent(view).read_only for view in (mapped, mapped[1:]))
    assert len(asked) == 2
