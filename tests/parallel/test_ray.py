"""The same on a Ray cluster of two nodes on this machine, one of which dies in the middle."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from epic import InputError
from epic.compare.runner import carry_out
from epic.compare.runs import Runs
from epic.compare.store import Store
from epic.parallel import execute
from tests.compare.fake import Fake
from tests.compare.test_plan import plan
from tests.parallel.tasks import half

pytest.importorskip("ray", reason="the extra `ray` is not installed")

# In a process of its own: a cluster leaves threads and handlers behind that other tests should not inherit.
TWO_NODES = """
import json, sys
import ray
from ray.cluster_utils import Cluster
from epic.compare.runner import carry_out
from epic.compare.runs import Runs
from epic.compare.store import Store
from tests.compare.fake import Fake
from tests.compare.test_plan import plan
from tests.parallel.tasks import Slow

folder, calls = sys.argv[1:3]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
second = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
ray.init(address=cluster.address, log_to_driver=False)
assert ray.cluster_resources()["CPU"] == 2
store = Store(folder + "/r.jsonl")
killed = []

def say(text):
    print(text)

def kill_second(store_writer_add):
    def add(task, outcome):
        store_writer_add(task, outcome)
        if len(store) == 6 and not killed:
            killed.append(1)
            cluster.remove_node(second, allow_graceful=False)
    return add

from epic.compare import store as module
real = module.Writer.add
module.Writer.add = lambda self, task, outcome: kill_second(lambda t, o: real(self, t, o))(task, outcome)
whole = carry_out(Runs(plan(seeds=4), store), Slow(Fake(calls)), ray=cluster.address, progress=False, say=say)
print(json.dumps({"whole": whole, "killed": bool(killed), "done": len(store)}))
ray.shutdown()
cluster.shutdown()
"""


def keys(store):
    return {r["key"]: {k: v for k, v in r.items() if k != "seconds_in_all"} for r in store}


@pytest.mark.slow
def test_two_nodes_one_dies_nothing_is_lost_and_nothing_twice(tmp_path):
    (tmp_path / "calls").mkdir()
    root = Path(__file__).parents[2]
    path = f"{root / 'src'}{os.pathsep}{root}"  # this source, whatever is installed
    run = subprocess.run(
        [sys.executable, "-c", TWO_NODES, str(tmp_path), str(tmp_path / "calls")],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=root,
        env={**os.environ, "RAY_DEDUP_LOGS": "0", "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
    )
    assert run.returncode == 0, run.stderr[-3000:]
    told = json.loads(run.stdout.splitlines()[-1])
    count = plan(seeds=4).count()
    assert told == {"whole": True, "killed": True, "done": count}
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    assert len(lines) == count, "one line a run"
    here = Store(tmp_path / "here.jsonl")
    carry_out(Runs(plan(seeds=4), here), Fake(str(tmp_path / "calls")), workers=0, progress=False)
    assert keys(Store(tmp_path / "r.jsonl")) == keys(here), "the same numbers as in one process, bit for bit"


def test_a_cluster_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot reach the Ray cluster '127\.0\.0\.1:1'"):
        list(execute(half, [2], ray="127.0.0.1:1"))
