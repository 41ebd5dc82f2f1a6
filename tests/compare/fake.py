"""Runs that take no time: a score that is a function of the config, as of a real run."""

import json
import os
import signal
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path


def noise(config):
    text = json.dumps(config, sort_keys=True)
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little") / 2**32


@dataclass(frozen=True)
class Fake:
    """``bonus`` adds to the score of a method; ``broken`` methods fail; every call leaves a file in ``folder``."""

    folder: str
    bonus: tuple = ()
    broken: tuple = ()
    kill_at: str = ""

    def __call__(self, task):
        config = task.config
        calls = Path(self.folder)
        (calls / f"{task.key}-{os.getpid()}-{len(list(calls.iterdir()))}").write_text("")
        if config.get("method") in self.broken:
            raise ValueError(f"{config['method']} is broken")
        if self.kill_at and not (calls.parent / "killed").exists() and config.get("method") == self.kill_at:
            (calls.parent / "killed").write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        base = 0.7 + 0.05 * noise([config.get("dataset"), config.get("split_seed"), config.get("seed")])
        score = base + dict(self.bonus).get(config.get("method"), 0.0) + 0.01 * noise(config)
        return {
            "validation": score + 0.1 * config.get("settings", {}).get("p", 0.0),
            "test": score,
            "sizes": [70, 10, 20],
            "seconds": 2.0,
            "made": 0 if config.get("method") == "vanilla" else 1000,
            "making_seconds": 0.5 if config.get("method") == "vanilla" else 1.5,
            "epochs": 10,
            "updates": 10,
            "prepared": 0.5,
        }
