"""A site of stand-ins: Slurm's commands and kubectl, which behave as documented, before all others on the PATH."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_SCRIPTS = Path(__file__).parent / "site"
JOB = """JobId=812345 JobName=train
   UserId=me(1000) GroupId=me(1000) MCS_label=N/A
   JobState={state} Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=node[01-02]
   BatchHost=node01
   NumNodes=2 NumCPUs=32 NumTasks=2 CPUs/Task=16
   Command=/home/me/train.sbatch
   WorkDir=/home/me
   StdErr={output}
   StdIn=/dev/null
   StdOut={output}
"""


class Site:
    """What the stand-ins find: nodes with files, a job, pods."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, scripts: Sequence[str]) -> None:
        self.folder = folder
        for name in ("bin", "nodes", "jobs", "accounting", "logs", "described"):
            (folder / name).mkdir(parents=True)
        for name in scripts:
            self.install(name)
        monkeypatch.setenv("SITE", str(folder))
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def install(self, name: str) -> None:
        place = self.folder / "bin" / name
        if (script := _SCRIPTS / f"{name}.py").exists():
            place.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        else:
            shutil.copy(_SCRIPTS / name, place)
        place.chmod(0o755)

    def node(self, name: str, files: Mapping[str, str | bytes], seconds: int = 1_700_000_000) -> Path:
        """A node with these files below the folder in which one is when one comes there, written then."""
        home = self.folder / "nodes" / name
        home.mkdir(exist_ok=True)
        for path, text in files.items():
            file = home / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)
            os.utime(file, (seconds, seconds))
        return home

    def job(self, state: str = "RUNNING", output: str = "/dev/null") -> None:
        (self.folder / "jobs" / "812345").write_text(JOB.format(state=state, output=output))

    def pods(self, phases: Mapping[str, str], restarts: Mapping[str, int] = {}) -> None:
        items = [
            {
                "metadata": {"name": name, "namespace": "training", "labels": {"job-name": "train"}},
                "status": {
                    "phase": phase,
                    "containerStatuses": [
                        {"name": "pytorch", "restartCount": restarts.get(name, 0), "ready": True}
                    ],
                },
            }
            for name, phase in phases.items()
        ]
        (self.folder / "pods.json").write_text(json.dumps({"items": items}))
        for name, phase in phases.items():
            (self.folder / "described" / name).write_text(f"Name:         {name}\nStatus:       {phase}\n")
            (self.folder / "logs" / name).write_text(f"{name} begins\n")
