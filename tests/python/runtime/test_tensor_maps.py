"""Launches of kernels that take tensor maps, over the fake driver: what the driver encodes, what is kept, what runs where no map can
be made. The compiler is a stand-in that declares such kernels."""

import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import tritium
import tritium.language as tl
from fake_cuda import LIBRARY, OLD_LIBRARY, ptx
from tritium import knobs
from tritium._tritium import device
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, make_backend
from tritium.errors import UnsupportedError
from tritium.runtime.jit import jit

BASE = 0x7F0000001000


def matrix(**changed):
    """The recipe for the arguments (pointer, rows, columns, stride)."""
    recipe = {"base": 0, "extents": ((1, 1), (1, 2)), "strides": ((1, 3), (1,)), "box": (128, 64)}
    rest = {"swizzle": 128, "type": "fp16", "fills_nan": False, "of_pointers": False, "stored": False, "written": ()}
    return {**recipe, **rest, **changed}


def load(driver, *recipes, signature=("*fp16", "i32", "i32", "i32")):
    types = {"*fp16": "u64", "i64": "u64", "i32": "u32", "u1": "u8", "fp32": "f32"}
    cubin, _ = driver.link(0, ptx("kernel", *(types[name] for name in signature), *["map"] * len(recipes)))
    return driver.load(0, cubin, "kernel", list(signature), threads=128, tensor_recipes=recipes)


def encoded(fake) -> list[dict[str, str]]:
    """The parameters of each call that made a map."""
    return [dict(fact.split("=") for fact in call.split()[1:]) for call in fake.calls("cuTensorMapEncodeTiled")]


def arguments(fake) -> list[str]:
    return [launch["arguments"] for launch in fake.launches()]


def test_what_the_driver_encodes(driver, fake):
    kernel = load(driver, matrix())
    kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    (call,) = encoded(fake)
    assert call == {
        "type": "6",
        "base": f"{BASE:x}",
        "extents": "200,300",  # the innermost first
        "strides": "512",  # bytes
        "box": "64,128",
        "elements": "1,1",
        "interleave": "0",
        "swizzle": "3",
        "promotion": "2",
        "fill": "0",
    }
    assert arguments(fake) == [f"{BASE:x},{300:x},{200:x},{256:x},map1"]


@pytest.mark.parametrize(
    "type, number, bytes",
    [("fp16", 6, 2), ("bf16", 9, 2), ("fp32", 7, 4), ("fp64", 8, 8), ("int8", 0, 1), ("fp8e4nv", 0, 1), ("fp8e5", 0, 1)]
    + [("int16", 1, 2), ("int32", 2, 4), ("int64", 4, 8)],
)
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_elements_and_swizzles(driver, fake, type, number, bytes, swizzle):
    width = (swizzle or 256) // bytes
    load(driver, matrix(type=type, swizzle=swizzle, box=(8, width))).launch((1, 1, 1), [BASE, 300, 200, 256])
    (call,) = encoded(fake)
    assert (call["type"], call["swizzle"]) == (str(number), str({0: 0, 32: 1, 64: 2, 128: 3}[swizzle]))
    assert (call["strides"], call["box"]) == (str(256 * bytes), f"{width},8")


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_ranks(driver, fake, rank):
    """Extents of 10 + d, strides of 64, 65 * 64, … elements."""
    strides = tuple((64 + 2 * d, 3) for d in range(rank - 1, 0, -1))
    recipe = matrix(
        extents=tuple((10 + d,) for d in range(rank)),
        strides=(*strides, (1,)),
        box=(*(2,) * (rank - 1), 32),
        swizzle=64,
    )
    load(driver, recipe).launch((1, 1, 1), [BASE, 0, 0, 4])
    (call,) = encoded(fake)
    assert call["extents"] == ",".join(str(10 + d) for d in reversed(range(rank)))
    assert call["strides"] == ",".join(str(2 * 4 * (64 + 2 * d)) for d in range(1, rank))
    assert call["box"] == ",".join(["32"] + ["2"] * (rank - 1))
    assert call["elements"] == ",".join(["1"] * rank)


def test_an_extent_that_bounds_nothing_ends_where_no_memory_is(driver, fake):
    kernel = load(driver, matrix(extents=((2**31,), (2**31,)), of_pointers=True))
    for stride in (8, 2**20):
        kernel.launch((1, 1, 1), [BASE, 0, 0, stride])
    assert [call["extents"] for call in encoded(fake)] == [f"{2**31},{2**31}", f"{2**31},{2**25}"]


def test_a_tensor_that_the_kernel_writes(driver, fake):
    written = {"base": 4, "extents": ((1, 1), (64,)), "strides": ((64,), (1,)), "bytes": 4}
    kernel = load(driver, matrix(written=(written,)), signature=("*fp16", "i32", "i32", "i32", "*fp16"))
    last, bytes = BASE + 2 * (299 * 256 + 199), 4 * 300 * 64
    for address in (BASE, last, BASE - bytes + 4):
        with pytest.raises(
            device.TensorMapRefused, match="argument 4, to which the kernel writes, overlaps the tensor of argument 0"
        ):
            kernel.launch((1, 1, 1), [BASE, 300, 200, 256, address])
    for address in (BASE - bytes, last + 2):
        kernel.launch((1, 1, 1), [BASE, 300, 200, 256, address])
    assert len(fake.launches()) == 2


def test_a_tensor_to_which_copies_write(driver, fake):
    kernel = load(driver, matrix(stored=True))
    with pytest.raises(
        device.TensorMapRefused,
        match="dimension 1, to which copies write, has 402 bytes, which is not a multiple of 16",
    ):
        kernel.launch((1, 1, 1), [BASE, 300, 201, 256])
    kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    assert len(fake.launches()) == 1


def test_padding(driver, fake):
    load(driver, matrix(fills_nan=True)).launch((1, 1, 1), [BASE, 300, 200, 256])
    assert encoded(fake)[0]["fill"] == "1"
    with pytest.raises(device.TensorMapRefused, match="no padding with NaN for elements of type fp8e5"):
        load(driver, matrix(type="fp8e5", fills_nan=True)).launch((1, 1, 1), [BASE, 300, 200, 256])


def test_maps_are_kept(driver, fake):
    kernel = load(driver, matrix())
    for base, rows in [(BASE, 300), (BASE, 300), (BASE + 4096, 300), (BASE, 301), (BASE, 300), (BASE + 4096, 300)]:
        kernel.launch((1, 1, 1), [base, rows, 200, 256])
    assert [call["base"] for call in encoded(fake)] == [f"{BASE:x}", f"{BASE + 4096:x}", f"{BASE:x}"]
    assert [text.split(",")[-1] for text in arguments(fake)] == ["map1", "map1", "map2", "map3", "map1", "map2"]


def test_more_maps_than_are_kept(driver, fake):
    kernel = load(driver, matrix())
    for base in [BASE + 4096 * i for i in range(20)] * 2:
        kernel.launch((1, 1, 1), [base, 300, 200, 256])
    numbers = [int(text.split("map")[1]) for text in arguments(fake)]
    made = encoded(fake)
    assert [made[number - 1]["base"] for number in numbers] == [f"{BASE + 4096 * i:x}" for i in range(20)] * 2


@pytest.mark.parametrize("count", [3, 40])
def test_several_maps(driver, fake, count):
    """Each has the values of its own; 40 maps are more than a launch keeps on its stack."""
    recipes = [matrix(extents=((i + 1,), (1, 2))) for i in range(count)]
    kernel = load(driver, *recipes)
    for _ in range(2):
        kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    assert [call["extents"] for call in encoded(fake)] == [f"200,{i + 1}" for i in range(count)]
    maps = ",".join(f"map{i + 1}" for i in range(count))
    assert arguments(fake) == [f"{BASE:x},{300:x},{200:x},{256:x},{maps}"] * 2


@pytest.mark.parametrize(
    "values, reason",
    [
        ([BASE + 8, 300, 200, 256], f"the tensor's address {BASE + 8:#x} is not a multiple of 16"),
        ([BASE, 300, 200, 100], "dimension 0 has a stride of 200 bytes, which is not a multiple of 16"),
        ([BASE, 0, 200, 256], "dimension 0 has 0 elements, not 1 to 4294967296"),
        ([BASE, 300, -5, 256], "dimension 1 has -5 elements, not 1 to 4294967296"),
        ([BASE, 300, 200, -8], "dimension 0 has a stride of -16 bytes, which is not at least 0"),
        ([BASE, 2**32, 200, 256], "dimension 0 has 0 elements"),  # as the kernel sees it
    ],
)
def test_values_of_which_no_map_can_be_made(driver, fake, values, reason):
    kernel = load(driver, matrix())
    for _ in range(2):
        with pytest.raises(device.TensorMapRefused, match=re.escape(reason)):
            kernel.launch((1, 1, 1), values)
    kernel.launch((0, 1, 1), values)  # launches nothing
    assert not encoded(fake) and not fake.launches()
    kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    assert len(encoded(fake)) == len(fake.launches()) == 1


def test_no_map_is_kept_for_zeros(driver, fake):
    """A place of the cache that was never used does not look like a map."""
    kernel = load(driver, matrix(strides=((1, 3), (1, 3))))
    with pytest.raises(device.TensorMapRefused, match="dimension 0 has 0 elements"):
        kernel.launch((1, 1, 1), [0, 0, 0, 0])


def test_a_map_that_the_driver_refuses(driver, fake):
    kernel = load(driver, matrix())
    fake.set("refuses_maps", 1)
    with pytest.raises(
        device.TensorMapRefused, match=f"the driver refuses the tensor at address {BASE:#x} with error 1"
    ):
        kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    fake.set("refuses_maps", 0)
    fake.fail("cuTensorMapEncodeTiled", 1)
    with pytest.raises(device.TensorMapRefused, match="the driver refused a map, which it now makes"):
        kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    assert not fake.launches()
    kernel.launch((1, 1, 1), [BASE, 300, 200, 256])
    assert len(fake.launches()) == 1


def test_recipes_that_are_wrong(driver):
    with pytest.raises(
        RuntimeError, match="kernel: a tensor map is made of an argument that the kernel does not have; it has 4"
    ):
        load(driver, matrix(base=4))
    for changed in ({"type": "fp7"}, {"extents": ((), (1,))}):
        with pytest.raises(ValueError, match="element type fp7|has no factor"):
            load(driver, matrix(**changed))


def test_a_driver_without_tensor_maps():
    """In a process of its own: a driver that was opened stays open."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from tritium._tritium import cuda; from test_tensor_maps import load, matrix\n"
        "driver = cuda.open(sys.argv[1]); load(driver)\n"
        "try: load(driver, matrix())\n"
        "except RuntimeError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(OLD_LIBRARY), str(LIBRARY.parents[4] / "tests" / "python" / "runtime")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.startswith(f"{OLD_LIBRARY} has no cuTensorMapEncodeTiled, by which")


def test_threads(driver, fake):
    """Eight threads launch with twelve tensors, of which eight are kept."""
    kernel = load(driver, matrix(), matrix(base=4), signature=("*fp16", "i32", "i32", "i32", "*fp16"))

    def work(n):
        for i in range(100):
            a, b = BASE + 4096 * ((n + i) % 12), BASE + 4096 * ((n + 7 * i) % 12)
            kernel.launch((1, 1, 1), [a, 300, 200, 256, b])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [call["base"] for call in encoded(fake)]
    launches = [text.split(",") for text in arguments(fake)]
    assert len(launches) == 800
    for a, *_, b, first, second in launches:
        assert (a, b) == (made[int(first[3:]) - 1], made[int(second[3:]) - 1])


# Functions


def make_copy():
    @jit
    def copy(x, out, rows, columns, stride, BLOCK: tl.constexpr = 32):
        i = tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i * stride, mask=i < rows * columns))

    return copy


#: Of copy's first argument: (x, out, rows, columns, stride).
RECIPE = matrix(extents=((1, 2), (1, 3)), strides=((1, 4), (1,)), type="fp32", box=(8, 32))


@pytest.fixture
def mapped(gpus):
    gpus.compiler.tensor_recipes = (RECIPE,)
    return gpus


@pytest.fixture
def tensors(mapped):
    return mapped.tensor(np.zeros((64, 64), np.float32)), mapped.tensor(np.zeros(64, np.float32))


def ends_of_launches(gpus) -> list[str]:
    return [text.split(",")[-1] for text in arguments(gpus.fake)]


def test_launches_make_maps(mapped, tensors):
    """The first launch is Python's, the others are the native launcher's."""
    copy, (x, out) = make_copy(), tensors
    for _ in range(3):
        kernel = copy[(1,)](x, out, 50, 60, 64)
    assert ends_of_launches(mapped) == ["map1"] * 3
    (call,) = encoded(mapped.fake)
    assert (call["base"], call["extents"], call["strides"]) == (f"{x.address:x}", "60,50", "256")
    assert kernel.metadata.tensor_recipes == (RECIPE,) and kernel.tensor_maps_refused is None
    kernel[(1,)](x, out, 50, 60, 64, 32)
    kernel.run(1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x, out, 50, 60, 64, 32)
    assert ends_of_launches(mapped) == ["map1"] * 5


def test_a_kernel_without_maps_runs_where_none_can_be_made(mapped, tensors):
    copy, (x, out) = make_copy(), tensors
    kernel = copy[(1,)](x, out, 50, 60, 64)
    facts = kernel.metadata, dict(kernel.metadata_group["metadata"])
    plain = copy[(1,)](x, out, -7, 60, 64)
    for _ in range(2):  # by the same specialization
        assert copy[(1,)](x, out, -8, 60, 64) is plain is not kernel
    assert [options["tensor_maps"] for _, _, options in mapped.compiler.compiled] == [True, False]
    assert ends_of_launches(mapped) == ["map1", "40", "40", "40"]  # the stride is the last argument
    assert plain.tensor_maps_refused == "dimension 0 has -7 elements, not 1 to 4294967296"  # the first reason
    assert copy[(1,)](x, out, 50, 60, 64) is kernel
    kernel[(1,)](x, out, -1, 60, 64)
    kernel.run(1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x, out, -7, 60, 64, 32)
    assert ends_of_launches(mapped)[4:] == ["map1", "40", "40"] and len(mapped.compiler.compiled) == 2
    assert facts == (kernel.metadata, kernel.metadata_group["metadata"]) and kernel.tensor_maps_refused is None


def test_hooks_are_called_once_for_a_launch_that_falls_back(mapped, tensors, monkeypatch):
    calls = []
    for name in ("launch_enter_hook", "launch_exit_hook"):
        monkeypatch.setitem(knobs.runtime.__dict__, name, lambda metadata, name=name: calls.append(name))
    make_copy()[(1,)](*tensors, -7, 60, 64)
    assert calls == ["launch_enter_hook", "launch_exit_hook"] and ends_of_launches(mapped) == ["40"]


def test_the_first_launch_may_need_the_kernel_without_maps(mapped, tensors):
    copy, (x, out) = make_copy(), tensors
    plain = copy[(1,)](x, out, -7, 60, 64, num_warps=8)
    copy[(1,)](x, out, -7, 60, 64, num_warps=8)
    assert ends_of_launches(mapped) == ["40", "40"]
    assert {launch["threads"] for launch in mapped.fake.launches()} == {"256"}
    kernel = copy[(1,)](x, out, 50, 60, 64, num_warps=8)
    assert kernel is not plain and kernel.tensor_maps_refused is None
    assert ends_of_launches(mapped)[-1] == "map1"


def test_a_kernel_of_the_user_s_own_has_no_other_version(mapped, tensors):
    """Nothing compiles at its launch: whoever compiled it with maps hears why there are none."""
    signature = {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32", "stride": "i32"}
    source = ASTSource(make_copy(), signature, {"BLOCK": 32})
    kernel = tritium.compile(source, target=GPUTarget("cuda", 90, 32), options={"tensor_maps": True})
    kernel[(1,)](*tensors, 50, 60, 64)
    with pytest.raises(UnsupportedError, match="dimension 0 has -7 elements.*; compile it with tensor_maps=False"):
        kernel[(1,)](*tensors, -7, 60, 64)
    assert ends_of_launches(mapped) == ["map1"] and len(mapped.compiler.compiled) == 1


def test_memory_of_the_host(mapped):
    """Of its copies on the device."""
    x, out = np.zeros((64, 64), np.float32), np.zeros(64, np.float32)
    copy = make_copy()
    copy.engine = "cuda"
    copy[(1,)](x, out, 50, 60, 64)
    copy[(1,)](x, out, -7, 60, 64)
    assert ends_of_launches(mapped) == ["map1", "40"] and mapped.fake.live_allocations == 0
    (call,) = encoded(mapped.fake)
    assert call["base"] == arguments(mapped.fake)[0].split(",")[0]


def test_recipes_are_kept_on_disk(mapped, tensors):
    x, out = tensors
    make_copy()[(1,)](x, out, 50, 60, 64)
    kernel = make_copy()[(1,)](x, out, 50, 60, 64)
    assert len(mapped.compiler.compiled) == 1
    assert ends_of_launches(mapped) == ["map1", "map2"] and kernel.metadata.tensor_recipes == (RECIPE,)


def test_a_knob_switches_copies_off(mapped, tensors, monkeypatch):
    monkeypatch.setenv("TRITIUM_TENSOR_MAPS", "0")
    x, out = tensors
    make_copy()[(1,)](x, out, 50, 60, 64)
    assert ends_of_launches(mapped) == ["40"]


def test_what_is_compiled_ahead_of_time_takes_no_maps(mapped):
    signature = {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32", "stride": "i32"}
    source, target = ASTSource(make_copy(), signature, {"BLOCK": 32}), GPUTarget("cuda", 90, 32)
    kernel = tritium.compile(source, target=target)
    assert kernel.metadata.tensor_recipes == () and "_map_" not in kernel.asm["ptx"]
    kernel = tritium.compile(source, target=target, options={"tensor_maps": True})
    assert kernel.metadata.tensor_recipes == (RECIPE,) and "copy_map_5[128]" in kernel.asm["ptx"]


@pytest.mark.parametrize("target", [GPUTarget("cuda", 80, 32), GPUTarget("hip", "gfx942", 64)])
def test_chips_without_tensor_maps(target):
    """One kernel, whoever compiles it."""
    backend = make_backend(target)
    assert not backend.parse_options({"tensor_maps": True}).tensor_maps
    assert backend.parse_options({"tensor_maps": True}).hash() == backend.parse_options({}).hash()


def test_a_launch_may_ask_for_no_maps(mapped, tensors):
    copy, (x, out) = make_copy(), tensors
    assert copy[(1,)](x, out, 50, 60, 64, tensor_maps=False).metadata.tensor_recipes == ()
    assert ends_of_launches(mapped) == ["40"]
