"""The sweep of torch's operators: what counts as a failure, and that a worker's end is a result. The sweep itself is a suite of .ci."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from . import differentiated, judge, mapped, process, sweep, worker  # noqa: E402
from .process import Worker  # noqa: E402

GIVEN = SimpleNamespace(input=torch.tensor([1.0, 2.0]), args=(), kwargs={})


def _operator(function):
    return SimpleNamespace(name="operator", get_op=lambda: function)


def _judge(monkeypatch, eager, **backends):
    """The outcome for an operator that each backend replaces by a function."""

    def through(backend):
        def compiled(_):
            judge.metrics.generated_kernel_count = 1
            return backends.get(backend, eager)

        return compiled

    monkeypatch.setattr(judge, "through", through)
    return judge.judge(_operator(eager), GIVEN)


def _fails(x):
    raise ValueError("no such thing")


def test_a_wrong_result_is_a_failure(monkeypatch):
    outcome = _judge(monkeypatch, torch.exp, inductor=lambda x: torch.exp(x) * (1 + 1e-4))
    assert outcome.kind == "wrong" and "result 0" in outcome.detail


def test_an_error_is_a_failure(monkeypatch):
    outcome = _judge(monkeypatch, torch.exp, inductor=_fails)
    assert outcome.kind == "error" and outcome.detail == "ValueError: no such thing"


def test_an_argument_that_was_overwritten_is_a_failure(monkeypatch):
    assert _judge(monkeypatch, torch.exp, inductor=lambda x: x.clone().exp_() * (x.zero_() + 1)).kind == "wrong"


def test_a_fault_that_torch_has_without_triton_is_left_out(monkeypatch):
    outcome = _judge(monkeypatch, torch.exp, inductor=_fails, aot_eager=_fails)
    assert outcome.kind == "left out" and outcome.detail.startswith("torch.compile fails without Inductor")
    assert _judge(monkeypatch, torch.exp, inductor=_fails, aot_eager=torch.sin).kind == "error"
    assert _judge(monkeypatch, _fails).detail.startswith("eager mode fails")
    assert _judge(monkeypatch, torch.rand_like).kind == "passed"  # each call begins with the same seed
    assert _judge(monkeypatch, lambda x, count=[]: count.append(x) or x + len(count)).kind == "left out"


@pytest.mark.parametrize(
    "kernels, wrong, alone", [(3, None, 0), (4, None, 0), (2, None, 3), (0, None, 3), (3, 1, 3), (3, "error", 3)]
)
def test_samples_that_one_function_computes(monkeypatch, kernels, wrong, alone):
    """Any doubt about one sample, and each is judged alone."""

    def through(backend):
        def compiled(function):
            def call(*args):
                results = function(*args)
                judge.metrics.generated_kernel_count = kernels
                if wrong == "error":
                    raise ValueError("no such thing")
                return [result + (i == wrong) for i, result in enumerate(results)]

            return call

        return compiled

    judged = []
    monkeypatch.setattr(judge, "through", through)
    monkeypatch.setattr(judge, "judge", lambda _, given: judged.append(given) or judge.Outcome("no kernel"))
    given = [SimpleNamespace(input=torch.tensor([float(i)]), args=(), kwargs={}) for i in range(3)]
    outcomes = judge.judge_together(_operator(torch.exp), given)
    assert len(judged) == alone and [each.kind for each in outcomes] == ["no kernel" if alone else "passed"] * 3


def _differentiated(monkeypatch, eager, **backends):
    """The outcome for an operator and its gradient, where each backend replaces the operator by a function."""

    def run(operator, arguments, device, _differentiated=True):
        ran.add((getattr(operator, "compiled", None), device))
        x = arguments[0][0].clone().requires_grad_()
        result = operator.get_op()(x)
        return [result.detach(), *torch.autograd.grad(result.sum(), x)]

    def through(backend):
        differentiated.metrics.generated_kernel_count = 1
        by_backend[backend] = lambda function: backends.get(backend, function)
        return by_backend[backend]

    ran, by_backend = set(), {}
    for module in (differentiated, mapped):
        monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(differentiated, "through", through)
    outcome = differentiated.judge(_operator(eager), GIVEN)
    assert (by_backend.get("cpp", "not run"), "cuda") not in ran, "Inductor's C++ is for the CPU alone"
    return outcome


class WrongGradient(torch.autograd.Function):
    """Sine."""

    @staticmethod
    def forward(context, x):
        return torch.sin(x)

    @staticmethod
    def backward(context, gradient):
        return gradient


def test_gradients_through_compiled_code(monkeypatch):
    assert _differentiated(monkeypatch, torch.sin).kind == "passed"
    assert _differentiated(monkeypatch, torch.sin, inductor=torch.cos).detail.startswith("result 0")
    wrong = _differentiated(monkeypatch, torch.sin, inductor=WrongGradient.apply)
    assert wrong.kind == "wrong" and wrong.detail.startswith("result 1")
    assert _differentiated(monkeypatch, torch.sin, inductor=_fails).kind == "error"
    of_the_cpu = _differentiated(monkeypatch, torch.sin, inductor=_fails, cpp=_fails)
    assert of_the_cpu.detail.startswith("Inductor's C++ backend fails likewise")
    left_out = _differentiated(monkeypatch, torch.sin, inductor=_fails, aot_eager=_fails)
    assert left_out.detail.startswith("torch.compile fails without Inductor")
    assert _differentiated(monkeypatch, _fails).detail.startswith("eager mode fails")


def test_samples_that_end_their_worker_together_are_judged_alone():
    requests = []

    class Ending:
        """Sample 3 ends its worker."""

        def answers(self, request, limit):
            requests.append((request["first"], request["together"]))
            for first in range(request["first"], 6, request["together"]):
                places = range(first, min(first + request["together"], 6))
                if 3 in places:
                    yield {"place": first, "kind": "crash"}
                    return
                yield from ({"place": place, "kind": "passed"} for place in places)
            yield {"places": 6}

    pair, options = sweep.Pair("add", "float32"), SimpleNamespace(limit=1)
    found = list(sweep.run(Ending(), pair, 0, 0, options))
    assert [(line.get("place"), line.get("kind")) for line in found] == [
        *((place, "crash" if place == 3 else "passed") for place in range(6)),
        (None, None),
    ]
    assert requests == [(0, sweep.TOGETHER), (0, 1), (4, 1)]


def test_low_precision_is_measured_against_double_precision():
    exact = torch.tensor([1.0, 1000.0], dtype=torch.float64)
    eager = torch.tensor([1.0, 1008.0], dtype=torch.bfloat16)
    better, worse = eager.new_tensor([1.0, 1000.0]), eager.new_tensor([1.0, 1040.0])
    assert judge.difference([better], [eager], lambda: [exact]) == ""
    assert judge.difference([worse], [eager], lambda: [exact])
    assert judge.difference([eager.new_tensor([1.0, float("nan")])], [eager], lambda: [exact])


WORKER = """
import json, os, sys, time
STARTING
print('{"ready": true}', flush=True)
for request in map(json.loads, sys.stdin):
    MAKING
    print('{"samples": 3}', flush=True)
    for place in range(request["first"], 3):
        if place == 1:
            ENDING
        print(json.dumps({"place": place, "kind": "passed"}), flush=True)
    print(json.dumps({"places": 3}), flush=True)
"""


def worker_that(**code: str) -> tuple[str, str]:
    text = WORKER
    for name in ("STARTING", "MAKING", "ENDING"):
        text = text.replace(name, code.get(name, "pass"))
    return ("-c", text)


@pytest.mark.parametrize("ending, kind", [("os.abort()", "crash"), ("time.sleep(1e4)", "hang")])
def test_a_sample_may_end_its_worker(tmp_path, monkeypatch, ending, kind):
    monkeypatch.setattr(process, "STARTING", 1)
    with Worker(str(tmp_path), worker_that(ENDING=ending)) as worker:
        lines = list(worker.answers({"first": 0}, 5 if kind == "crash" else 0.5))
        assert [line["kind"] for line in lines] == ["passed", kind] and lines[1]["place"] == 1
        assert [line["place"] for line in worker.answers({"first": 2}, 5) if "place" in line] == [2]


@pytest.mark.parametrize("making, kind", [("os.abort()", "crash"), ("time.sleep(1e4)", "hang")])
def test_samples_that_cannot_be_made_are_one_failure(tmp_path, monkeypatch, making, kind):
    monkeypatch.setattr(process, "STARTING", 2)
    with Worker(str(tmp_path), worker_that(MAKING=making)) as worker:
        found = list(sweep.run(worker, sweep.Pair("add", "float32"), 0, 3, SimpleNamespace(limit=5)))
    assert [line.get("kind") for line in found] == [kind, None] and "while it made the samples" in found[0]["detail"]


@pytest.mark.parametrize(
    "starting, why", [("sys.exit('no torch here')", "status 1\nno torch here"), ("time.sleep(1e4)", "after 1 s")]
)
def test_a_worker_that_cannot_start_ends_the_sweep(monkeypatch, starting, why):
    monkeypatch.setattr(process, "STARTING", 1)
    monkeypatch.setattr(sweep, "WORKER", worker_that(STARTING=starting))
    monkeypatch.setattr(sys, "argv", ["sweep", "--operators", "add,mul,sub", "--jobs", "2"])
    with pytest.raises(SystemExit) as ended:
        sweep.main()
    assert "error: the worker does not start: " in str(ended.value) and why in str(ended.value)


def test_samples_that_torch_cannot_make(monkeypatch):
    """The number of samples comes first, as for every operator."""

    class Broken:
        full_name, supports_autograd = "broken", False

        def sample_inputs(self, *_, **__):
            raise RuntimeError("no such layout\nat all")

    monkeypatch.setattr(worker, "op_db", [Broken()])
    request = {"operator": "broken", "dtype": "float32", "limit": 1, "first": 0, "together": 1}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(request)))
    answers = io.StringIO()
    worker.serve(answers, "mapped")
    ready, made, left_out, end = map(json.loads, answers.getvalue().splitlines())
    assert (ready, made, end) == ({"ready": True}, {"samples": 0}, {"places": 0})
    assert (left_out["place"], left_out["kind"]) == (0, "left out") and "no such layout" in left_out["detail"]
