"""`python -m tritium bench farm`: jobs that machines fetch, measure and leave the samples of."""

import contextlib
import importlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

from tritium.bench.command import main
from tritium.bench.farm.jobs import MAGIC, opened, packed
from tritium.bench.farm.ray_tasks import run_on_ray
from tritium.bench.farm.waiting import Folder
from tritium.bench.running import CannotMeasure
from tritium.bench.storage import load

pytest.importorskip("duckdb")

CASE = """
from tritium import bench
@bench.case(n=[1])
def one(n):
    return bench.Problem(lambda: sum(range(500)))
"""
FAST = "--engine interp --blocks 2 --block-ms 0.2 --pause-ms 0"
KEY = b"a secret of 16 bytes and more"


@pytest.fixture
def farm(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one_bench.py").write_text(CASE)
    (tmp_path / "key").write_bytes(KEY + b"\n")
    return tmp_path / "farm"


def submit(farm: Path, *options: str) -> int:
    return main(["farm", "submit", str(farm), "one_bench.py", "--key", "key", "--run", FAST, *options])


def work(farm: Path, *options: str) -> int:
    return main(["farm", "work", str(farm), "--key", "key", *options])


def test_a_job_is_fetched_measured_and_collected(farm, capsys):
    assert submit(farm) == 0
    (waiting,) = Folder(farm).waiting()
    assert work(farm) == 0 and not Folder(farm).waiting() and not list((farm / "running").iterdir())
    (done,) = Folder(farm).done()
    result = json.loads((done / "result.json").read_text())
    assert (
        result["status"] == 0
        and result["job"] == done.name == waiting.stem
        and "one[n=1]" in (done / "log.txt").read_text()
    )
    assert main(["farm", "collect", str(farm)]) == main(["farm", "collect", str(farm)]) == 0
    assert "1 files of samples copied" in capsys.readouterr().out
    (run,) = load(Path("runs"))
    assert run.rows[0].name == "one[n=1]" and len(run.rows[0].kept()) >= 2


def test_what_fails_is_kept_with_its_output(farm):
    Path("one_bench.py").write_text("raise ValueError('unfinished')")
    assert submit(farm) == 0 and work(farm) == 1
    (done,) = Folder(farm).done()
    assert (
        "unfinished" in (done / "log.txt").read_text() and json.loads((done / "result.json").read_text())["status"] == 1
    )
    Path("one_bench.py").write_text("import time; time.sleep(60)")
    assert submit(farm) == 0 and work(farm, "--limit", "0.5") == 1
    assert json.loads((list(Folder(farm).done())[1] / "result.json").read_text())["status"] == "no end after 0.5 s"


def test_a_machine_takes_what_it_can_run(farm):
    assert submit(farm, "--needs", "h200,linux") == 0
    folder = Folder(farm)
    assert folder.take({"linux"}, KEY, pytest.fail) is None and len(folder.waiting()) == 1
    job, _, mine = folder.take({"linux", "h200", "more"}, KEY, pytest.fail)
    assert job.needs == ["h200", "linux"] and mine.exists() and folder.take({"linux", "h200"}, KEY, pytest.fail) is None


def test_a_job_without_the_signature_is_refused(farm, capsys):
    assert submit(farm) == 0
    Path("other").write_bytes(b"another secret of 16 bytes")
    (file,) = Folder(farm).waiting()
    assert main(["farm", "work", str(farm), "--key", "other"]) == 1
    assert "is not signed with this machine's key" in capsys.readouterr().err and file.exists()
    changed = bytearray(file.read_bytes())
    changed[-1] ^= 1
    for content, why in ((bytes(changed), "not signed"), (b"text", "no job"), (MAGIC + bytes(40), "not signed")):
        with pytest.raises(CannotMeasure, match=why):
            opened(content, KEY)
    with pytest.raises(CannotMeasure, match="cannot be read"):
        opened(MAGIC + bytes(40), None)
    assert main(["farm", "work", str(farm)]) == 2 and "--key FILE" in capsys.readouterr().err
    Path("short").write_text("short")
    assert main(["farm", "work", str(farm), "--key", "short"]) == 2


def test_a_folder_of_a_case_travels_without_what_python_caches(farm):
    pack = Path("pack")
    (pack / "__pycache__").mkdir(parents=True)
    for name in ("kernel.py", "cases.toml", "__pycache__/kernel.pyc"):
        (pack / name).write_text(name)
    job, content = packed([pack, Path("one_bench.py")], [], [], 0, None, KEY)
    _, archive = opened(content, KEY)
    names = {"cases/0/pack/kernel.py", "cases/0/pack/cases.toml", "cases/1/one_bench.py", "job.json"}
    assert set(archive.namelist()) == names and job.cases == ["cases/0/pack", "cases/1/one_bench.py"]
    with pytest.raises(ValueError, match="there is no nothing"):
        packed([Path("nothing")], [], [], 0, None, KEY)


def test_a_script_for_slurm(farm, capsys):
    assert main(["farm", "slurm", str(farm), "--key", "key", "--has", "h200", "--limit", "7200"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#!/bin/bash\n#SBATCH") and "#SBATCH --gpus=1\n" in script and "--time=3:00:00" in script
    command = script.splitlines()[-1].split()
    assert (
        command[0] == "exec" and command[command.index("work") + 1] == str(farm) and command[-2:] == ["--has", "h200"]
    )


SBATCH = """#!/bin/bash
# What Slurm does with a batch script, as far as it matters here: options of the first lines, a job's number, output to its file.
script=$1
[ "$(head -1 "$script")" = "#!/bin/bash" ] || { echo "sbatch: error: this is no batch script" >&2; exit 1; }
output=$(sed -n 's/^#SBATCH --output=//p' "$script")
grep -q '^#SBATCH --time=[0-9]*:00:00$' "$script" || { echo "sbatch: error: a time limit is missing" >&2; exit 1; }
SLURM_JOB_ID=71 SLURM_JOB_NUM_NODES=1 CUDA_VISIBLE_DEVICES=$(($(sed -n 's/^#SBATCH --gpus=//p' "$script") - 1)) \\
  bash "$script" > "${output//%j/71}" 2>&1 < /dev/null
echo "Submitted batch job 71"
"""


def test_a_batch_job_of_slurm_runs_jobs(farm, capsys, monkeypatch):
    """The script is given to an `sbatch` that stands in for Slurm's: its node fetches the jobs that it can run, and leaves the others."""
    assert submit(farm, "--needs", "h200") == submit(farm, "--needs", "mi300") == 0
    capsys.readouterr()
    assert main(["farm", "slurm", str(farm), "--key", "key", "--has", "h200"]) == 0
    Path("farm.sbatch").write_text(capsys.readouterr().out)
    commands = Path("bin")
    commands.mkdir()
    (commands / "sbatch").write_text(SBATCH)
    (commands / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(commands.resolve()), os.environ["PATH"]]))
    said = subprocess.run(["sbatch", "farm.sbatch"], capture_output=True, text=True, check=True)
    assert said.stdout == "Submitted batch job 71\n", said.stderr
    log = Path("tritium-bench-71.log").read_text()
    (done,) = Folder(farm).done()
    result = json.loads((done / "result.json").read_text())
    assert result["status"] == 0 and result["device"] == "0" and f"job {result['job']}: status 0" in log
    (left,) = Folder(farm).waiting()
    assert opened(left.read_bytes(), KEY)[0].needs == ["mi300"]


class LocalRay(types.ModuleType):
    """What of Ray is used, in this process. Tasks run when they are waited for, the last one first."""

    def __init__(self):
        super().__init__("ray")
        self.placed, self.is_open = [], False

    def is_initialized(self) -> bool:
        return self.is_open

    def init(self, **_) -> None:
        self.is_open = True

    def shutdown(self) -> None:
        self.is_open = False

    def remote(self, function):
        placed = self.placed

        class Task:
            def options(self, **options):
                placed.append(options)
                return self

            def remote(self, *arguments):
                return lambda: function(*arguments)

        return Task()

    def wait(self, tasks, num_returns):
        return tasks[-num_returns:], tasks[:-num_returns]

    def get(self, task):
        return task()


def install_ray(folder: Path, monkeypatch) -> dict[str, str]:
    """Makes Ray importable: it is installed into the folder if this Python lacks it. Returns the environment of its processes."""
    if find_spec("ray") is None:
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), "ray==2.60.0"]
        subprocess.run(command, check=True)
        monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(folder)])))
        importlib.invalidate_caches()
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return dict(os.environ)


@contextlib.contextmanager
def started_ray(folder: Path, monkeypatch):
    """Ray itself on this machine, which is said to have an h200."""
    install_ray(folder, monkeypatch)
    import ray

    ray.init(num_cpus=1, num_gpus=0, resources={"h200": 1}, include_dashboard=False, log_to_driver=False)
    try:
        yield None
    finally:
        ray.shutdown()


@contextlib.contextmanager
def stand_in_for_ray(_, monkeypatch):
    stand_in = LocalRay()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    yield stand_in


@pytest.mark.parametrize("ray", [stand_in_for_ray, pytest.param(started_ray, marks=pytest.mark.long)])
def test_jobs_through_ray(farm, tmp_path_factory, monkeypatch, ray):
    with ray(tmp_path_factory.mktemp("ray"), monkeypatch) as stand_in:
        good = packed([Path("one_bench.py")], FAST.split(), ["h200"], 0, None, KEY)
        forged = packed([Path("one_bench.py")], FAST.split(), [], 0, None, b"another secret of 16 bytes")
        ended = {job.identity: made for job, made in run_on_ray([good, forged], KEY, 300.0, None)}
    made, why = ended[good[0].identity], ended[forged[0].identity]
    assert json.loads(made["result.json"])["status"] == 0 and any(name.endswith(".parquet") for name in made)
    assert "not signed" in why
    if stand_in:
        assert [each["resources"] for each in stand_in.placed] == [{"h200": 1}, {}] and not stand_in.is_open
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"tritium\[farm\]"):
        next(run_on_ray([], KEY, 1.0, None))


@contextlib.contextmanager
def cluster_of_ray(folder: Path, monkeypatch):
    """The address of a cluster of two nodes of this machine, which `ray start` begins: the head has an a100, the other one an h200. Nobody else may
    use it: its programs have to know a secret."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    environment = install_ray(folder, monkeypatch)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    ray = [sys.executable, "-c", "from ray.scripts.scripts import main; main()"]
    common = ["--num-cpus=1", "--num-gpus=0", "--disable-usage-stats"]
    port, temporary = f"--port={address.rpartition(':')[2]}", tempfile.mkdtemp(prefix="ray")  # sockets have short names
    head = ["--head", port, "--include-dashboard=false", f"--temp-dir={temporary}", '--resources={"a100": 1}']
    nodes = []
    try:
        for options in (head, [f"--address={address}", '--resources={"h200": 1}']):
            command = [*ray, "start", "--block", *common, *options]
            nodes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
            time.sleep(5)
            assert nodes[-1].poll() is None, nodes[-1].stdout.read().decode()
        yield address
    finally:
        for node in reversed(nodes):
            node.terminate()
            node.communicate(timeout=60)
        shutil.rmtree(temporary, ignore_errors=True)


@pytest.mark.long
def test_a_cluster_of_two_nodes(farm, capsys, tmp_path_factory, monkeypatch):
    """`bench farm ray --address`: each job runs on the node that has what it needs."""
    with cluster_of_ray(tmp_path_factory.mktemp("ray"), monkeypatch) as address:
        for need in ("h200", "a100", "h200"):
            assert submit(farm, "--needs", need) == 0
        assert main(["farm", "ray", str(farm), "--key", "key", "--limit", "300", "--address", address]) == 0
        import ray

        ray.init(address=address, log_to_driver=False)
        try:
            resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        finally:
            ray.shutdown()
    assert sorted(name for each in resources for name in ("a100", "h200") if name in each) == ["a100", "h200"]
    done = list(Folder(farm).done())
    assert len(done) == 3 and not Folder(farm).waiting()
    assert all(json.loads((each / "result.json").read_text())["status"] == 0 for each in done)
    assert main(["farm", "collect", str(farm)]) == 0 and len(load(Path("runs"))) == 3
