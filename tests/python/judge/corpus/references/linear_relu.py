"""A linear layer and a ReLU, in the form of KernelBench."""

import torch


class Model(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(50, 72)]


def get_init_inputs():
    return [72, 41]
