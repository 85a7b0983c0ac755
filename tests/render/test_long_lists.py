"""Jobs of many ranks: their lists are said as people say them, and what is said of a cohort is said of all of it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from support.places import EARLY_STOP
from support.render.cards import shown
from support.render.diagnosed import document

from rankandfile import diagnose
from rankandfile.model.ranks import format_ranks
from rankandfile.render.formats import github, junit, markdown
from rankandfile.render.report.notebook import notebook

DUMPS = EARLY_STOP / "evidence" / "dumps"
MANY = 48


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job of the example, of more ranks: the last two leave early."""
    folder = tmp_path_factory.mktemp("many")
    for rank in range(MANY):
        dump = pickle.loads((DUMPS / f"nccl_trace_rank_{2 if rank >= MANY - 2 else 0}").read_bytes())
        for group in dump["pg_config"].values():
            group["ranks"] = str(list(range(MANY)))
        for entry in dump["entries"]:  # else they are copies of one dump
            entry["time_created_ns"] += 1371 * rank
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump))
    return folder


def test_who_took_a_branch_is_no_sample(many: Path) -> None:
    card = " ".join(shown(diagnose(many, src=EARLY_STOP / "src"), 100).split())
    assert f"if self.out_of_patience(): taken by ranks {MANY - 2},{MANY - 1}, " in card
    assert f"not taken by ranks 0-{MANY - 3} " in card
    assert f"ranks {MANY - 2},{MANY - 1} ▸ are in the barrier" in card


def test_a_sentence_says_a_long_list_as_people_do() -> None:
    diagnosis = document("network_stalled")
    diagnosis.job.world_size = 512
    evens = format_ranks(range(0, 510, 2)).replace(",", ", ")
    diagnosis.verdicts[0].sentence = f"Ranks {evens} and 510 wait. It may be ranks 1 and 3."
    said = "The 256 even ranks 0-510 wait. It may be ranks 1 and 3."
    assert said in shown(diagnosis, 100)
    for text in (markdown.write(diagnosis), github.write(diagnosis), junit.write(diagnosis)):
        assert said in text.replace("\\", "")
    assert said in notebook(diagnosis)


@pytest.mark.parametrize(
    "numbers", ["9-3, 12-4, 100-50, 1000-900 and 7", "1, 2, 3, 4, 5, 6, 7 and 99999999999999999999"]
)
def test_what_is_no_list_of_ranks_is_left_as_it_is(numbers: str) -> None:
    diagnosis = document("network_stalled")
    diagnosis.verdicts[0].sentence = f"It logged ranks {numbers}."
    assert f"It logged ranks {numbers}." in shown(diagnosis, 100)
