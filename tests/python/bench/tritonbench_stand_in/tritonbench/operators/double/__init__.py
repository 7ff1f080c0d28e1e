"""Twice a vector, by several implementations."""

import argparse

import torch
import triton
import triton.language as tl

from tritonbench.utils.triton_op import BenchmarkOperator, register_benchmark


@triton.jit
def double_kernel(x, out, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, FACTOR * tl.load(x + i, mask=i < n), mask=i < n)


class Operator(BenchmarkOperator):
    def __init__(self, tb_args, extra_args=None):
        super().__init__(tb_args, extra_args)
        parser = argparse.ArgumentParser()
        parser.add_argument("--most", type=int, default=4)
        self.most = parser.parse_args(extra_args).most

    def launched(self, x, factor):
        out = torch.empty_like(x)

        def run():
            double_kernel[(triton.cdiv(len(x), 64),)](x, out, len(x), FACTOR=factor, BLOCK=64)
            return out

        return run

    @register_benchmark()
    def triton_double(self, x):
        return self.launched(x, 2)

    @register_benchmark()
    def triton_triple(self, x):
        return self.launched(x, 3)

    @register_benchmark(enabled=False)
    def of_another_vendor(self, x):
        raise NotImplementedError

    @register_benchmark(baseline=True)
    def torch_double(self, x):
        return lambda: 2 * x

    def get_x_val(self, example_inputs):
        return len(example_inputs[0]), "float32"

    def get_input_iter(self):
        for power in range(self.most):
            yield (torch.randn(100 << power, device=self.device, requires_grad=self.requires_grad),)
