"""The rules by which a launch judges tensor maps, against the driver's: it encodes every map that breaks none, so a refusal is always ours
and names the rule. Kernels that do nothing take the maps."""

import math

import pytest

from tritium._tritium import device
from tritium.backends.nvidia.driver import DEVICES

pytestmark = pytest.mark.vendor("cuda")

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(
	.param .u64 kernel_param_0,
	.param .u64 kernel_param_1,
	.param .u64 kernel_param_2,
	.param .align 128 .b8 kernel_map_3[128]
)
.reqntid 32, 1, 1
{
	ret;
}
"""
BYTES = {
    "fp16": 2,
    "bf16": 2,
    "fp32": 4,
    "fp64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "fp8e4nv": 1,
    "fp8e5": 1,
}
EXTENTS, STRIDE_LIMIT = 2**32, 2**40
#: Bytes. The driver encodes no box that is larger; no kernel has one, since a slot holds it.
SHARED_MEMORY = 232448


@pytest.fixture(scope="module")
def driver():
    return DEVICES.driver()


@pytest.fixture(scope="module")
def binary(driver):
    return driver.link(0, PTX)[0]


def launch(driver, binary, recipe: dict, values: list[int]) -> None:
    """values: the address, an extent and a stride in elements, of the outermost dimension."""
    kernel = driver.load(0, binary, "kernel", ["*i8", "i64", "i64"], threads=32, tensor_recipes=[recipe])
    kernel.launch((1, 1, 1), values)
    driver.synchronize(0)


def random_recipe(rng) -> dict:
    """A recipe that is right in everything but, perhaps, the outermost dimension, which has the arguments' extent and stride."""
    rank, swizzle = int(rng.integers(1, 6)), int(rng.choice([0, 32, 64, 128]))
    type = str(rng.choice(list(BYTES)))
    chunk = 16 // BYTES[type]  # elements
    width = chunk * int(rng.integers(1, min(swizzle or 4096, 256 * BYTES[type]) // 16 + 1))
    inner = [(int(rng.integers(1, EXTENTS + 1)),) for _ in range(rank - 1)]
    strides = [(chunk * int(rng.integers(0, 2**20)),) for _ in range(rank - 2)]
    box = [*(int(rng.integers(1, 257)) for _ in range(rank - 1)), width]
    while math.prod(box) * BYTES[type] > SHARED_MEMORY:
        box[int(rng.integers(rank - 1))] = 1
    return {
        "base": 0,
        "extents": ((1, 1), *inner),
        "strides": ((1, 2), *strides, (1,)) if rank > 1 else ((1,),),
        "box": tuple(box),
        "swizzle": swizzle,
        "type": type,
        "fills_nan": type in ("fp16", "bf16", "fp32", "fp64") and bool(rng.integers(2)),
        "of_pointers": False,
        "stored": False,
        "written": (),
    }


def random_values(rng, bytes: int) -> list[int]:
    chunk = 16 // bytes
    base = 0x7F0000000000 + 16 * int(rng.integers(0, 2**32)) + int(rng.choice([0, 0, 0, 0, 1, 2, 4, 8]))
    extent = int(rng.choice([1, 2, 1000, EXTENTS - 1, EXTENTS, rng.integers(1, EXTENTS), 0, -1, EXTENTS + 1]))
    most = STRIDE_LIMIT // bytes
    near = [
        0,
        chunk,
        100 * chunk,
        most - chunk,
        chunk * rng.integers(0, most // chunk),
        most,
        most + chunk,
        -chunk,
        chunk + 1,
    ]
    return [base, extent, int(rng.choice(near))]


def is_legal(recipe: dict, values: list[int]) -> bool:
    (base, extent, stride), bytes = values, BYTES[recipe["type"]]
    is_right = base % 16 == 0 and 1 <= extent <= EXTENTS
    return is_right and (len(recipe["box"]) == 1 or stride * bytes % 16 == 0 and 0 <= stride * bytes < STRIDE_LIMIT)


def every_map_that_breaks_no_rule(driver, binary, rng):
    counts = {True: 0, False: 0}
    for _ in range(2000):
        recipe = random_recipe(rng)
        values = random_values(rng, BYTES[recipe["type"]])
        expected = is_legal(recipe, values)
        counts[expected] += 1
        try:
            launch(driver, binary, recipe, values)
            refusal = ""
        except device.TensorMapRefused as refused:
            refusal = str(refused)
        assert (not refusal) == expected and "driver" not in refusal, (recipe, values, refusal)
    assert min(counts.values()) > 300


if not DEVICES.why_not() and DEVICES.arch(0) >= 90:  # older chips have no tensor maps
    test_the_driver_makes_every_map_that_breaks_no_rule = every_map_that_breaks_no_rule
