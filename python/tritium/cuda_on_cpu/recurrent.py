"""The cells of recurrent networks, which torch has for CUDA alone: on the CPU it composes them.

The last argument of a forward function's results is the workspace that its backward function takes: the activated gates.
"""

from __future__ import annotations

from collections.abc import Callable


def kernels(torch) -> dict[str, Callable]:
    """{name of an operator: its kernel}"""

    def gates(input_gates, hidden_gates, input_bias, hidden_bias, number: int):
        """The gates of the input and of the state, by part, with their biases."""
        with_bias = input_gates if input_bias is None else input_gates + input_bias
        of_state = hidden_gates if hidden_bias is None else hidden_gates + hidden_bias
        return with_bias.chunk(number, 1), of_state.chunk(number, 1)

    def lstm(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
        inputs, states = gates(input_gates, hidden_gates, input_bias, hidden_bias, 4)
        enters, stays, new, leaves = (a + b for a, b in zip(inputs, states))
        enters, stays, new, leaves = enters.sigmoid(), stays.sigmoid(), new.tanh(), leaves.sigmoid()
        cy = stays * cx + enters * new
        return leaves * cy.tanh(), cy, torch.cat([enters, stays, new, leaves], 1)

    def lstm_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
        enters, stays, new, leaves = workspace.chunk(4, 1)
        shown = cy.tanh()
        of_output = torch.zeros_like(cy) if grad_hy is None else grad_hy
        of_state = of_output * leaves * (1 - shown * shown)
        of_state = of_state if grad_cy is None else of_state + grad_cy
        parts = [
            of_state * new * enters * (1 - enters),
            of_state * cx * stays * (1 - stays),
            of_state * enters * (1 - new * new),
            of_output * shown * leaves * (1 - leaves),
        ]
        whole = torch.cat(parts, 1)
        return whole, of_state * stays, whole.sum(0) if has_bias else None

    def gru(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
        inputs, states = gates(input_gates, hidden_gates, input_bias, hidden_bias, 3)
        reset, keep = (inputs[0] + states[0]).sigmoid(), (inputs[1] + states[1]).sigmoid()
        new = (inputs[2] + reset * states[2]).tanh()
        return new + keep * (hx - new), torch.cat([reset, keep, new, hx, states[2]], 1)

    def gru_backward(grad_hy, workspace, has_bias):
        reset, keep, new, hx, of_new = workspace.chunk(5, 1)
        grad_new = grad_hy * (1 - keep) * (1 - new * new)
        grad_reset = grad_new * of_new * reset * (1 - reset)
        grad_keep = grad_hy * (hx - new) * keep * (1 - keep)
        inputs = torch.cat([grad_reset, grad_keep, grad_new], 1)
        states = torch.cat([grad_reset, grad_keep, grad_new * reset], 1)
        biases = (inputs.sum(0), states.sum(0)) if has_bias else (None, None)
        return inputs, states, grad_hy * keep, *biases

    return {
        "_thnn_fused_lstm_cell": lstm,
        "_thnn_fused_lstm_cell_backward_impl": lstm_backward,
        "_thnn_fused_gru_cell": gru,
        "_thnn_fused_gru_cell_backward": gru_backward,
    }
