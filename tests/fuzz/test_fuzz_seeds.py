"""What the guided fuzzing starts from, each input once: every door of it works without atheris."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.fuzz import archive_targets, output_targets, text_targets
from support.fuzz.nasty_files import nasty_files

pytestmark = pytest.mark.slow

DOORS = {
    "logs": (text_targets.fuzz_log, text_targets.log_seeds),
    "stacks": (text_targets.fuzz_stacks, text_targets.stack_seeds),
    "archives": (archive_targets.fuzz_archive, archive_targets.archive_seeds),
    "words": (output_targets.fuzz_words, output_targets.word_seeds),
}


@pytest.mark.parametrize("door", sorted(DOORS))
def test_seeds(door: str) -> None:
    once: Callable[[bytes], None]
    once, seeds = DOORS[door]
    for data in seeds():
        once(data)


@pytest.mark.parametrize("name", ["half json", "huge duration", "entries of laughter", "surrogate group"])
def test_nasty_files_on_the_whole_way(name: str) -> None:
    nasty = nasty_files()
    output_targets.fuzz_outputs(output_targets.BETWEEN.join([nasty[name], nasty["json with NaN"]]))


@pytest.mark.lab
def test_seeds_of_the_whole_way() -> None:
    for data in output_targets.output_seeds():
        output_targets.fuzz_outputs(data)
