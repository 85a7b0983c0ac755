"""A baseline: an investigation, by the rules or by a model that goes on from them, as an answer to a task.

python -m rankandfile.lab.benchmark.investigate EVIDENCE [--src DIR] [--model MODEL --keep DIR [--max-cost USD]]

With a model, its own verdict is the answer where it has one that was accepted, and else that of the rules. The
conversation and what came of it are kept in a new folder of DIR, which the answer names: an answer without its record
cannot be looked into.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rankandfile.agent.playbook import draft
from rankandfile.lab.diagnosed import bench_of
from rankandfile.lab.score.analysers import run
from rankandfile.lab.score.investigators import answer_of
from rankandfile.model.diagnosis import SURE
from rankandfile.model.ranks import parse_ranks
from rankandfile.own_python import own_python

#: The longest that a model has for one task: the limit of the scorer, with room to write what there is.
_SECONDS = 280


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0], allow_abbrev=False)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--src", type=Path)
    parser.add_argument("--model", help="as of raf investigate")
    parser.add_argument("--keep", type=Path, help="where the conversations with the model are kept")
    parser.add_argument("--max-cost", help="US dollars for one task")
    given = parser.parse_args()
    if given.model and not given.keep:
        parser.error("--model needs --keep DIR: the conversation is part of the answer")
    src = [given.src] if given.src else []
    answer = _of_rules(given.evidence, src)
    if given.model:
        answer |= _of_model(given.evidence, src, given.model, given.keep, given.max_cost)
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def _of_rules(evidence: Path, src: list[Path]) -> dict[str, object]:
    """What the document concludes: verdicts that were held against the case and accepted."""
    bench = bench_of([evidence], src)
    play = draft(bench)
    said = answer_of(bench, play.journal, len(play.journal.steps))
    sure = {v.confidence for v in bench.diagnosis.verdicts if v.culprits} & {"established", "supported"}
    return {
        "hang": said.hang,
        "culprits": said.culprits,
        "confidence": "likely" if sure else "possible",
        "cause": said.cause,
        "file": said.location.file if said.location else None,
        "line": said.location.line if said.location else None,
    }


def _of_model(
    evidence: Path, src: list[Path], model: str, keep: Path, max_cost: str | None
) -> dict[str, object]:
    keep.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="task-", dir=keep))
    words = [*own_python("from rankandfile.cli.main import main; main()"), "investigate", str(evidence)]
    words += [word for one in src for word in ("--src", str(one))]
    words += ["--model", model, "-o", str(folder), "--format", "json", "--max-seconds", str(_SECONDS - 60)]
    words += ["--max-cost", max_cost] if max_cost else []
    done = run(words, timeout=_SECONDS)
    try:
        account = json.loads(done.stdout)["model"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines() or ["it printed no answer"]
        return {"failed": "took too long" if done.status is None else lines[-1][:200]}
    (folder / "model.json").write_text(json.dumps(account, indent=1) + "\n", encoding="utf-8")
    told = {"record": folder.name, "model": account["model"], "spent": account["spent"]}
    return told | _verdict(account["verdict"])


def _verdict(said: dict[str, Any] | None) -> dict[str, object]:
    """Nothing, where the model has none that stands: that of the rules is the answer then."""
    if said is None or not said["accepted"]:
        return {}
    cause = str(said["cause"])
    undetermined = cause == "undetermined"
    calm = cause in ("no_hang", "teardown_only", "too_short_timeout")
    return {
        "hang": None if undetermined else not calm,
        "culprits": parse_ranks(str(said["culprits"])) if said["culprits"] else [],
        "confidence": SURE[said["confidence"]],
        "cause": None if undetermined else cause,
        "file": said["file"],
        "line": said["line"],
    }


if __name__ == "__main__":
    sys.exit(main())
