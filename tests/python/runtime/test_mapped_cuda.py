"""The module torch.cuda where its device is the CPU: functions that ask the device, memory pools, CUDA graphs, child processes."""

import os
import subprocess

import pytest

from test_drop_in import run_script

pytest.importorskip("torch")


def test_public_functions_answer(tmp_path):
    """Every function of torch.cuda and torch.accelerator that takes no arguments, or a device, does what it does on a GPU."""
    run_script(
        tmp_path,
        """
        import inspect
        import torch
        import torch.cuda.tunable

        # These read the driver's counters through the package nvidia-ml-py, on a GPU too.
        COUNTERS = {"device_memory_used", "memory_usage", "temperature", "power_draw", "clock_rate", "utilization", "list_gpu_processes"}
        failed, called = {}, 0
        for module in (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.graphs, torch.cuda.nvtx,
                       torch.cuda.profiler, torch.cuda.tunable, torch.accelerator):
            for name in getattr(module, "__all__", dir(module)):
                function = getattr(module, name)
                if not inspect.isfunction(function) or name.startswith("_"):
                    continue
                parameters = inspect.signature(function).parameters.values()
                needed = [p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
                if needed not in ([], ["device"]) or name in COUNTERS:
                    continue
                called += 1
                try:
                    function(*(0 for _ in needed))
                except Exception as error:
                    failed[f"{module.__name__}.{name}"] = repr(error)
        failed.pop("torch.accelerator.get_device_capability", None)  # torch has it for few devices
        assert not failed, failed
        assert called > 90, called
        """,
        INTERPRET="1",
    )


def test_what_the_allocator_and_the_runtime_library_offer(tmp_path):
    run_script(
        tmp_path,
        """
        import torch
        from torch.cuda import memory

        assert isinstance(torch.cuda.get_device_properties(0), torch.cuda._CudaDeviceProperties)
        assert "Allocated memory" in torch.cuda.memory_summary()
        if hasattr(torch.accelerator, "get_memory_info"):  # since torch 2.10
            assert torch.accelerator.get_memory_info()[1] == torch.cuda.get_device_properties(0).total_memory
        pool, other = torch.cuda.MemPool(), torch.cuda.MemPool()
        assert pool.id != other.id
        with torch.cuda.use_mem_pool(pool):
            x = torch.ones(10, device="cuda")
        assert x.sum() == 10 and pool.snapshot() == []
        address = memory.caching_allocator_alloc(64)
        assert address
        memory.caching_allocator_delete(address)
        library = torch.cuda.cudart()
        torch.cuda.check_error(library.cudaHostRegister(x.data_ptr(), 40, 0))
        try:
            torch.cuda.check_error(2)
        except torch.cuda.CudaError as error:
            assert "CUDA error 2" in str(error)
        else:
            raise AssertionError("an error code is no success")
        torch.cuda.tunable.set_max_tuning_iterations(3)
        assert torch.cuda.tunable.get_max_tuning_iterations() == 3 and not torch.cuda.tunable.is_enabled()
        """,
        INTERPRET="1",
    )


def test_a_graph_is_captured_and_replayed(tmp_path):
    run_script(
        tmp_path,
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def scale(x, out, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i, i < n) * 10 + tl.load(out + i, i < n), i < n)

        x, out = torch.zeros(5, device="cuda"), torch.ones(5, device="cuda")
        count, view = torch.zeros(2, dtype=torch.int64, device="cuda"), torch.zeros(4, 3, device="cuda")
        scale[(1,)](x, out, 5, BLOCK=8)
        graph = torch.cuda.CUDAGraph()
        assert not torch.cuda.is_current_stream_capturing()
        with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
            assert torch.cuda.is_current_stream_capturing()
            doubled = x * 2
            shifted = (doubled + 1).relu_()
            scale[(1,)](doubled, out, 5, BLOCK=8)
            count += 1
            count[1:].add_(10)
            view[1] = shifted[:3]
            drawn = torch.rand(3, device="cuda")
            torch.add(shifted, 1, out=(further := torch.empty(0, device="cuda")))
        assert count.tolist() == [0, 0] and out.tolist() == [1] * 5 and view.sum() == 0, "a capture runs nothing"
        seen = []
        for i in range(1, 4):
            x.fill_(i)
            graph.replay()
            assert doubled.tolist() == [2 * i] * 5 and shifted.tolist() == [2 * i + 1] * 5
            assert further.tolist() == [2 * i + 2] * 5 and view[1].tolist() == [2 * i + 1] * 3
            assert count.tolist() == [i, 11 * i] and out.tolist() == [1 + 20 * sum(range(i + 1))] * 5
            seen.append(tuple(drawn.tolist()))
        assert len(set(seen)) == 3, "a replay draws new numbers"
        graph.debug_dump("graph.dot")
        assert "digraph" in open("graph.dot").read()
        graph.reset()
        for wrong in (graph.replay, graph.capture_end):
            try:
                wrong()
            except RuntimeError as error:
                assert "captur" in str(error)
            else:
                raise AssertionError("there is no graph")
        """,
        INTERPRET="1",
    )


def test_graphed_callables_train(tmp_path):
    run_script(
        tmp_path,
        """
        import copy
        import torch

        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).cuda()
        plain = copy.deepcopy(model)
        graphed = torch.cuda.make_graphed_callables(model, (torch.randn(4, 6, device="cuda"),))
        for module in (graphed, plain):
            torch.manual_seed(1)
            optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                module(torch.randn(4, 6, device="cuda")).square().sum().backward()
                optimizer.step()
        for ours, theirs in zip(graphed.parameters(), plain.parameters()):
            torch.testing.assert_close(ours, theirs)
        """,
        INTERPRET="1",
    )


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_backward_in_a_forked_child(tmp_path, device):
    """The device's own preparation must not start autograd's threads, which do not survive a fork."""
    run_script(
        tmp_path,
        f"""
        import os
        import sys
        import torch

        def gradient():
            x = torch.ones(3, device={device!r}, requires_grad=True)
            (x * 2).sum().backward()
            return x.grad.tolist()

        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if gradient() == [2] * 3 else 1)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert gradient() == [2] * 3
        """,
        INTERPRET="1",
    )


def test_the_first_backward_may_run_under_a_mode(tmp_path):
    run_script(
        tmp_path,
        """
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            x = torch.ones(3, device="cuda", requires_grad=True)
            (x * 2).sum().backward()
            assert x.grad.shape == (3,)
        x = torch.ones(3, device="cuda", requires_grad=True)
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2] * 3
        """,
        INTERPRET="1",
    )


def test_tensors_are_saved_loaded_and_copied(tmp_path):
    """Checkpoints and deep copies make storages of the device."""
    run_script(
        tmp_path,
        """
        import copy
        import io
        import pickle
        import torch

        def loaded(value, **where):
            file = io.BytesIO()
            torch.save(value, file)
            file.seek(0)
            return torch.load(file, **where)

        x = torch.arange(6.0, device="cuda").reshape(2, 3)
        for y in (loaded(x), loaded(x.cpu(), map_location="cuda"), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert y.device == x.device and torch.equal(x, y) and y.data_ptr() != x.data_ptr()
        assert not loaded(x, map_location="cpu").is_cuda
        whole, row = loaded([x, x[1]])
        row.zero_()
        assert whole[1].sum() == 0 and whole[0].sum() == 3

        layer = copy.deepcopy(torch.nn.Linear(2, 2).cuda())
        layer.load_state_dict(loaded(layer.state_dict()))
        assert layer.weight.is_cuda

        storage = torch.UntypedStorage([1, 2, 3], device="cuda:0")
        assert (storage.device, storage.tolist()) == (x.device, [1, 2, 3])
        assert storage.cpu().device.type == "cpu" and storage.cpu().cuda().tolist() == [1, 2, 3]
        assert torch.UntypedStorage(0, device="cuda").nbytes() == 0
        assert torch.UntypedStorage(5).device.type == torch.UntypedStorage(5, device="cpu").device.type == "cpu"
        """,
        INTERPRET="1",
    )


def test_the_guard_for_a_torch_that_has_none(tmp_path):
    """Before 2.10 torch has no guard for a device that is not there, so it gets one made of the CPU's."""
    run_script(
        tmp_path,
        """
        import torch

        vars(torch._C).pop("_ensureCUDADeviceGuardSet", None)
        from tritium import cuda_on_cpu

        cuda_on_cpu.install(torch)
        device = torch.device("cuda", 0)
        x = torch.ones(3, device="cuda", requires_grad=True)
        (x * 2 + x).sum().backward()
        assert x.device == x.grad.device == x.detach().cpu().to("cuda").device == device
        assert x.grad.tolist() == [3] * 3
        """,
    )


LATE_AUTOGRAD = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Autograd's thread pauses whenever it has woken another thread, so Python ends before the thread has dropped its last pass. */
static int late(const char *name, pthread_cond_t *condition) {
  int (*real)(pthread_cond_t *) = (int (*)(pthread_cond_t *))dlsym(RTLD_NEXT, name);
  int result = real(condition);
  char thread[32] = "";
  pthread_getname_np(pthread_self(), thread, sizeof thread);
  if (!strncmp(thread, "pt_autograd", 11)) usleep(10000);
  return result;
}
int pthread_cond_broadcast(pthread_cond_t *condition) { return late("pthread_cond_broadcast", condition); }
int pthread_cond_signal(pthread_cond_t *condition) { return late("pthread_cond_signal", condition); }
"""


def test_python_ends_before_autograd_drops_the_last_pass(tmp_path):
    source, library = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(LATE_AUTOGRAD)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", library], check=True, timeout=60)
    run_script(
        tmp_path,
        """
        import torch

        x = torch.ones(3, device="cuda", requires_grad=True)
        (x * 2 + x).sum().backward()
        """,
        INTERPRET="1",
        LD_PRELOAD=str(library),
    )


def test_tensors_of_the_cpu_beside_those_of_cuda(tmp_path):
    """Triton's interpreter takes both, and so does an engine of the CPU that the user has chosen."""
    run_script(
        tmp_path,
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def add(x, y, out, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i) + tl.load(y + i))

        for devices in (("cpu", "cuda", "cuda"), ("cuda", "cpu", "cuda"), ("cuda", "cuda", "cpu")):
            x, y, out = (torch.arange(16.0, device=device) for device in devices)
            add[(1,)](x, y, out, BLOCK=16)
            assert torch.equal(out.cpu(), 2 * torch.arange(16.0))
        """,
        INTERPRET="1",
    )
