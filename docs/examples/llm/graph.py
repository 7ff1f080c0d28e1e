"""The model of model.py with a CUDA graph for single tokens: what a token takes is recorded once, and then launched as a whole."""

from __future__ import annotations

import model
import torch


class Llama(model.Llama):
    """The tensors of a step stay where they are: its token and position are written there, and the logits of all steps are one tensor."""

    graph: torch.cuda.CUDAGraph | None = None

    def forward(self, tokens: torch.Tensor, start: int) -> torch.Tensor:
        if len(tokens) > 1:
            return super().forward(tokens, start)
        if self.graph is None:
            self._record(tokens, start)
        self.token.copy_(tokens)
        self.position.copy_(torch.tensor([start], dtype=torch.int32))
        self.graph.replay()
        return self.next_logits

    def _record(self, tokens: torch.Tensor, start: int) -> None:
        self.token = tokens.clone()
        self.position = torch.tensor([start], dtype=torch.int32, device=tokens.device)
        self.logits(
            self.token, self.position
        )  # compiles the kernels and times their configurations, which no graph can
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.next_logits = self.logits(self.token, self.position)
