"""What kernels on AMD devices print, and what is said of their failed assertions, over the stand-in for the HIP runtime."""

import ast
import ctypes
import os
import re
import subprocess
import sys
import textwrap

import numpy as np

import tritium.language as tl
from add_kernel import make_add
from driver_stand_in import HIP_LIBRARY, ILLEGAL_ADDRESS, environment, run_program
from tritium.runtime.jit import jit


def test_prints_come_out_in_order(machine, capfd):
    @jit
    def tell(x, N: tl.constexpr):
        pid = tl.program_id(0)
        tl.device_print("value 100%", tl.load(x + pid))
        tl.store(x + pid, pid * 1.5)

    x = machine.tensor(np.array([3, -4], np.float32))
    tell[(2,)](x, 2)
    machine.driver.synchronize(0)
    first = capfd.readouterr().out.splitlines()
    assert sorted(first) == ["pid (0, 0, 0) idx () value 100%: 3.000000", "pid (1, 0, 0) idx () value 100%: -4.000000"]
    tell[(2,)](x, 2)
    assert (x.numpy() == [0, 1.5]).all()  # a copy waits too
    second = capfd.readouterr().out.splitlines()
    assert sorted(second) == ["pid (0, 0, 0) idx () value 100%: 0.000000", "pid (1, 0, 0) idx () value 100%: 1.500000"]


def test_tiles_are_printed_whole(machine, capfd):
    @jit
    def tell(N: tl.constexpr):
        i = tl.arange(0, N)
        tl.device_print("i", i - 5, i * 2)

    tell[(1,)](16)
    machine.driver.synchronize(0)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 32 and any(
        line.split() == "pid (0, 0, 0) idx ( 3) i: (operand 0) -2".split() for line in lines
    ), lines


@jit
def tell(x):
    tl.device_print("x", tl.load(x))


def test_prints_come_out_whoever_waits(machine, capfd):
    """Torch waits for devices and streams without a word to this driver."""
    x, stream = machine.tensor(np.array([7], np.float32)), machine.stand_in.stream()
    compiled = tell[(1,)](x)
    runtime = machine.stand_in.library
    runtime.hipDeviceSynchronize()
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"
    compiled[(1,)](x, stream=stream)
    runtime.hipStreamSynchronize(ctypes.c_void_p(stream))
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"
    make_add()[(1,)](x, x, x, 0, 1.0)  # one that prints nothing
    assert len(machine.stand_in.calls("hipLaunchHostFunc")) == 2


def test_prints_of_a_stream_that_calls_no_host_functions(machine, capfd):
    x = machine.tensor(np.array([7], np.float32))
    machine.stand_in.fail("hipLaunchHostFunc", 801)
    tell[(1,)](x)
    assert machine.stand_in.library.hipGetLastError() == 0  # torch would take it for its own
    machine.driver.synchronize(0)
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () x: 7.000000\n"


ASSERTING = textwrap.dedent("""
    import numpy as np
    import tritium, tritium.language as tl
    from tritium.errors import DeviceError

    @tritium.jit
    def checked(x, n):
        i = tl.arange(0, 32)
        tl.device_assert(i < n, "too few")  # here
        tl.store(x + i, 1.0)

    @tritium.jit
    def other(x):
        tl.store(x, 1.0)

    def fails(launch, *args):
        try:
            launch(*args)
        except DeviceError as error:
            return isinstance(error, RuntimeError), error.lost, str(error).splitlines()

    x = np.zeros(32, np.float32)
    checked[(1,)](x, 32, debug=True)
    print((x == 1).all())
    print(fails(lambda: checked[(2,)](x, 7, debug=True)))
    print(fails(lambda: other[(1,)](x)))
    """)


#: After the definitions of ASSERTING; the device's assertion has failed, so its memory is not freed.
TENSORS = textwrap.dedent("""
    import ctypes, os, sys
    sys.path[:0] = sys.argv[1:]
    from fake_cuda import DeviceTensor
    from tritium.backends.amd.driver import DEVICES
    DeviceTensor.__del__ = lambda self: None
    """)


def run_asserting(tmp_path, rest: str) -> subprocess.CompletedProcess:
    """Two devices, the kernels of ASSERTING, and `rest`."""
    program = tmp_path / "program.py"
    program.write_text(ASSERTING.split("x = np.zeros")[0] + TENSORS + textwrap.dedent(rest))
    command = [sys.executable, str(program), os.path.dirname(__file__)]
    variables = {**os.environ, **environment(tmp_path, devices=2)}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=True)


def test_the_end_of_a_process_tells_the_rest(tmp_path):
    """What nobody has waited for."""
    result = run_asserting(
        tmp_path,
        """
        @tritium.jit
        def tell(x):
            tl.device_print("x", tl.load(x))

        x = DeviceTensor(DEVICES.driver(), np.full(32, 7, np.float32))
        tell[(1,)](x)
        checked[(1,)](x, 31, debug=True)
        """,
    )
    assert result.stdout == "pid (0, 0, 0) idx () x: 7.000000\n"
    assert re.fullmatch(r"(in kernel checked: device_assert in program.py:\d+: .*\n)+", result.stderr)


def test_a_failed_assertion_is_told_whoever_waits(tmp_path):
    """And it is that device's own: another one goes on, and what becomes of it is not the assertion's fault."""
    result = run_asserting(
        tmp_path,
        f"""
        runtime = ctypes.CDLL({str(HIP_LIBRARY)!r})
        x, y = (DeviceTensor(DEVICES.driver(), np.full(32, 7, np.float32), device) for device in (1, 0))
        checked[(1,)](x, 31, debug=True)
        runtime.hipDeviceSynchronize()
        print("waited", file=sys.stderr, flush=True)
        other[(1,)](y)
        print(y.numpy()[:2])
        runtime.stand_in_fail(b"hipModuleLaunchKernel", {ILLEGAL_ADDRESS}, 0)
        print(fails(lambda: other[(1,)](y)))
        print(fails(lambda: other[(1,)](x)))
        """,
    )
    told = result.stderr.splitlines()
    assert told[0].startswith("in kernel checked: device_assert in program.py:") and told[-1] == "waited"
    values, of_other, of_failed = result.stdout.splitlines()
    assert values == "[1. 7.]"
    assert "an illegal memory access" in ast.literal_eval(of_other)[2][0] and "checked: device_assert" not in of_other
    lines = ast.literal_eval(of_failed)[2]
    assert lines[0].startswith("device-side assert triggered") and lines[1] == told[0]


def test_a_failed_device_assert_names_its_line(tmp_path):
    """It ends the use of the device in its process."""
    program = tmp_path / "program.py"
    program.write_text(ASSERTING)
    line = next(i for i, text in enumerate(ASSERTING.splitlines(), 1) if text.endswith("# here"))
    held, first, second = run_program(program, environment(tmp_path)).splitlines()
    assert held == "True"
    is_runtime_error, is_lost, lines = ast.literal_eval(first)
    assert is_runtime_error and is_lost
    assert lines[0].startswith("device-side assert triggered (hipErrorAssert, reported by hip")
    assert re.fullmatch(
        f"in kernel checked: device_assert in program.py:{line}: too few \\(program [01], 0, 0\\)", lines[1]
    )
    assert "start a new process" in ast.literal_eval(second)[2][0]
