"""The verdict on one screen, for every cause at two widths; and what it must not do whatever it is given."""

from __future__ import annotations

import ast
import functools
import re
from html import unescape
from urllib.parse import unquote

import pytest
from msgspec.structs import replace
from support.places import ROOT
from support.render import hostile
from support.render.cards import SNAPSHOTS, WIDTHS, shown
from support.render.diagnosed import DOCUMENTED, SIMULATED, document, simulated
from support.selected import in_lab

from rankandfile.cli.output import printed
from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import (
    BY_HAND,
    SURE,
    Alternative,
    Cohort,
    Culprit,
    Diagnosis,
    Excerpt,
    ExcerptLine,
    Location,
    Missing,
    Remedy,
    Standing,
    Wait,
    to_json,
)
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.render.card import card
from rankandfile.render.card.asked import Asked
from rankandfile.render.card.circle import without_its_waits
from rankandfile.render.card.sheet import ROOMS, Sheet
from rankandfile.render.formats import github, junit, markdown
from rankandfile.render.headline import headline, sure
from rankandfile.render.long_lists import foldable, said_ranks
from rankandfile.render.report.notebook import notebook
from rankandfile.render.words import PLAIN, UNICODE

STALE = "not as it was: if it is as it should be, run `PYTHONPATH=tests python -m support.render.regenerate`"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_card_is_as_it_was_read_last(cause: str, width: int) -> None:
    expected = (SNAPSHOTS / f"{cause}.{width}.txt").read_text(encoding="utf-8")
    assert shown(document(cause), width) == expected, STALE


@pytest.mark.parametrize(
    "cause",
    [
        pytest.param(cause, marks=[] if cause in ("host_blocked", "size_mismatch") else pytest.mark.lab)
        for cause in SIMULATED
    ],
)
def test_the_kept_diagnoses_are_what_the_reasoning_says_now(cause: str) -> None:
    assert to_json(simulated(cause)) == to_json(document(cause)), STALE


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_answer_comes_first_and_fits_the_screen(cause: str) -> None:
    diagnosis = document(cause)
    verdict = diagnosis.verdicts[0]
    assert verdict.cause == cause
    lines = shown(diagnosis, 100).splitlines()
    assert len(lines) <= 16
    assert lines[0].startswith("NO HANG" if verdict.hang is False else "HANG: ")
    if verdict.culprits:
        assert f"rank{'s' if len(verdict.culprits) > 1 else ''} " in lines[0]
    assert lines[1].startswith(SURE[verdict.confidence])
    # What else it can be has a line of its own where both do not fit in one.
    second = " ".join(lines[1:3])
    assert all(
        (one.sentence[1:].rstrip(".") if one.cause == cause else one.cause.replace("_", " ")) in second
        for one in verdict.alternatives[:3]
    )
    assert len(verdict.alternatives) <= 3 or f"and {len(verdict.alternatives) - 3} more: -v" in second


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_details_have_all_the_rest(cause: str) -> None:
    diagnosis = document(cause)
    verdict = diagnosis.verdicts[0]
    brief, whole = shown(diagnosis, 100), shown(diagnosis, 100, verbose=True)
    assert whole.startswith(brief.rstrip())
    told = " ".join(words(whole))
    for text in (
        # Of a circle, the waits are lines of their own.
        without_its_waits(verdict),
        *(one.sentence for one in verdict.alternatives),
        *(one.text for one in verdict.remedies),
    ):
        assert " ".join(words(text)) in told


# What differs by cause is the headline itself, which the cards have of each.
@pytest.mark.parametrize("cause", in_lab(DOCUMENTED, [*DOCUMENTED[::4], *({"no_hang"} & {*DOCUMENTED})]))
def test_the_page_and_every_format_say_the_same_in_their_headline(cause: str) -> None:
    diagnosis = document(cause)
    # What only looked like a hang is said as such everywhere, too.
    for verdict in (diagnosis.verdicts[0], replace(diagnosis.verdicts[0], ordinary=True)):
        one = replace(diagnosis, verdicts=[verdict])
        said = headline(verdict, one.job.world_size)
        assert shown(one, 100).splitlines()[0].startswith(said)
        assert f">{said} " in unescape(notebook(one)) or f">{said}<" in unescape(notebook(one))
        for write in (markdown.write, github.write, *([] if cause == "no_hang" else [junit.write])):
            assert f"{said} ({sure(verdict)})" in unescape(unquote(write(one))).replace("\\", "")


JARGON = re.compile(
    r"\b(?:behind (?:it|that|earlier|the (?!first))|written behind|in turn|parted|ways part"
    r"|ranks part\b|part the ranks|mends?|mended)\b"
)
PLAIN_WORDS = re.compile(
    r"\b(?:behind (?:it|the)|in turn|parted|mends?|mended|established|supported|hypothesis)\b"
)


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_its_words_are_plain(cause: str) -> None:
    assert not PLAIN_WORDS.search(shown(document(cause), 100, verbose=True))


SPEAKERS = ("capture", "cli", "doctor", "reason", "render", "source")


@pytest.mark.parametrize("room", SPEAKERS)
def test_whatever_is_said_is_said_in_plain_words(room: str) -> None:
    """Not only of the hangs that are kept here: of all that the code can say."""
    for path in sorted((ROOT / "src" / "rankandfile" / room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                # An identifier is no speech, and what is counted may be behind.
                said = node.value if " " in node.value else ""
                assert not JARGON.search(said), f"{path}:{node.lineno}"


def test_what_the_pages_say_is_said_in_plain_words() -> None:
    files = [path for path in (ROOT / "src" / "rankandfile").rglob("*.j2") if path.is_file()]
    assert files
    for path in files:
        text = re.sub(r"{[%{#].*?[%}#]}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not JARGON.search(text), path


def test_where_nobody_is_named_the_next_step_tells_the_alternative_apart() -> None:
    shows = shown(document("network_stalled"), 100)
    assert "next    to exclude link error: look at NCCL's log, the kernel log" in shows
    assert "which devices began" not in shows, "every device is known to have begun it"


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_place_of_the_headline_is_no_call_that_was_not_made(cause: str) -> None:
    diagnosis = document(cause)
    verdict = diagnosis.verdicts[0]
    divergence = verdict.divergence
    if divergence is None or verdict.location is None or verdict.location.condition:
        return
    named = {one.rank for one in verdict.culprits}
    calls = [(one, one.call) for one in divergence.cohorts if one.call is not None]
    made = {f"{call.file}:{call.line}" for one, call in calls if named & {*parse_ranks(one.ranks)}}
    missed = {f"{call.file}:{call.line}" for one, call in calls} - made
    place = f"{verdict.location.file}:{verdict.location.line}"
    if named and (place in missed or divergence.kind == "skipped"):
        assert (
            f"{verdict.location.file.rpartition('/')[2]}:{verdict.location.line}"
            not in shown(diagnosis, 100).splitlines()[0]
        )


@pytest.mark.parametrize("height", [12, 16, 24, 50])
@pytest.mark.parametrize("cause", DOCUMENTED)
def test_it_fits_a_terminal_where_that_can_be(cause: str, height: int) -> None:
    whole = len(shown(document(cause), 100).splitlines())
    fits = len(shown(document(cause), 100, height=height).splitlines())
    assert fits <= whole and (fits < height or height == 12)


def test_in_a_small_window_the_answer_and_the_fix_stay() -> None:
    whole = shown(document("early_exit"), 60).splitlines()
    low = shown(document("early_exit"), 60, height=15).splitlines()
    assert len(low) < 15 < len(whole)
    assert low[0] == whole[0] and any(line.startswith("fix ") for line in low)
    assert low[-1].startswith("more ")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("cause", DOCUMENTED)
def test_no_line_is_wider_than_the_window(cause: str, width: int) -> None:
    assert max(len(line) for line in shown(document(cause), width).splitlines()) <= width


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_without_unicode_it_is_ascii_and_says_the_same(cause: str) -> None:
    plain = shown(document(cause), 100, PLAIN)
    assert plain.isascii()
    assert words(plain) == words(shown(document(cause), 100))


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_colour_adds_nothing(cause: str) -> None:
    coloured = shown(document(cause), 100, color=True)
    assert words(re.sub(r"\x1b\[[\d;]*m", "", coloured)) == words(shown(document(cause), 100))


@pytest.mark.parametrize(
    ("ranks", "world", "said"),
    [
        ("3", 512, "rank 3"),
        ("0,2", 4, "ranks 0,2"),
        ("0-2,4-511", 512, "all ranks but 3"),
        ("0-511", 512, "all 512 ranks"),
        (",".join(map(str, range(1, 512, 2))), 512, "the 256 odd ranks 1-511"),
        (",".join(map(str, range(0, 512, 8))), 512, "64 ranks, every 8th from 0 to 504"),
        (
            ",".join(map(str, range(0, 512, 8))).replace(",16,", ","),
            512,
            "63 ranks, every 8th from 0 to 504 but 16",
        ),
        (",".join(map(str, range(0, 512, 2))).replace(",4,", ","), 512, "the 255 even ranks 0-510 but 4"),
        ("1-3,9-11,13-15,17-19,21-23", 512, "15 ranks (1-3,9-11,13-15,17-19,…)"),
        ("8-15", 512, "ranks 8-15"),
    ],
)
def test_ranks_are_said_as_people_say_them(ranks: str, world: int, said: str) -> None:
    assert said_ranks(ranks, world) == said


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_in_a_narrow_window_too_it_is_read_at_a_glance(cause: str) -> None:
    assert len(shown(document(cause), 60).splitlines()) <= 17


LONG = Asked("/mnt/storage/jobs/812345/attempt-2/dumps", "--src /home/somebody/jobs/trainer/src", True)


def typed(diagnosis: Diagnosis, width: int) -> str:
    return printed(card(diagnosis, width=width, asked=LONG), width=width)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_its_commands_can_be_pasted_wherever_the_evidence_lies(width: int) -> None:
    diagnosis = document("early_exit")
    verdict = diagnosis.verdicts[0]
    verdict.remedies[0].diff = "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-a\n+b\n"
    text = typed(diagnosis, width)
    assert LONG.fix in [line.strip() for line in text.splitlines()]
    assert "PATH..." not in text and "DIR" not in text.replace("--src DIR, the job's", "")
    # What else would be too long is told by what to add to the command that was typed.
    assert LONG.to_page in text or "the page: add -o page.html" in text
    assert len(text.splitlines()) <= 17


def test_it_counts_the_patches_that_raf_fix_has_apart_from_what_is_done_by_hand() -> None:
    diagnosis = document("early_exit")
    diff = "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-a\n+b\n"
    first = replace(diagnosis.verdicts[0].remedies[0], diff=diff)
    by_hand = replace(first, diff=None)
    diagnosis.verdicts[0].remedies = [first, first, by_hand, by_hand]
    assert "1 other patch, 2 remedies by hand" in " ".join(shown(diagnosis, 200).split())


def far_apart() -> Diagnosis:
    """Rank 4 of every fourth rank of 256 went another way, which the others are known not to have gone."""
    diagnosis = document("rank_conditional")
    verdict = diagnosis.verdicts[0]
    diagnosis.job.world_size = 256
    waiting = format_ranks(rank for rank in range(0, 128, 4) if rank != 4)
    members = ",".join(map(str, range(0, 128, 4)))
    verdict.culprits = [replace(verdict.culprits[0], rank=4, host=None, doing="went on to the barrier")]
    verdict.victims = format_ranks(rank for rank in range(256) if rank != 4)
    verdict.location = Location(file="train.py", line=7, condition="if bad(loss):", condition_line=7)
    verdict.claims = [
        TookBranch(ranks=waiting, evidence=[], file="/job/train.py", line=7, truth=False, shown_by=9)
    ]
    divergence = verdict.divergence
    assert divergence is not None
    call = next(one.call for one in divergence.cohorts if one.call is not None)
    divergence.group, divergence.kind = f"dp [{members}]", "skipped"
    divergence.cohorts = [Cohort(ranks="4", call=None), Cohort(ranks=waiting, call=replace(call, group=None))]
    return diagnosis


@pytest.mark.parametrize("width", [40, 60, 100])
def test_long_lists_are_told_in_words(width: int) -> None:
    told = " ".join(shown(far_apart(), width).split())
    assert "dp [32 ranks, every 4th from 0 to 124]" in told
    assert "the other 224 ranks" in told or width < 100
    if width == 100:
        assert "not taken by 31 ranks, every 4th from 0 to 124 but 4; rank 4 went another way" in told


@pytest.mark.parametrize("width", range(8, 40, 5))
def test_a_list_is_broken_behind_its_commas(width: int) -> None:
    listed = ",".join(map(str, range(95, 140)))
    assert foldable(f"ranks {listed} wait", width).replace(" ", "") == f"ranks{listed}wait"
    assert all(len(one) <= max(width, 4) for one in foldable(listed, width).split())


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_the_cohorts_are_a_strip_of_who_did_what() -> None:
    card = shown(document("raised"), 100)
    assert (
        "rank 2 on node00 ▸ raised IndexError: index 90112 is out of bounds, and exited with code 1" in card
    )
    assert "ranks 0,1,3-7    ▸ wait in all_reduce #19 model.py:102" in card
    details = shown(document("raised"), 100, verbose=True)
    assert "2       ▸ gone: whether it came to #19, nothing tells" in details


def test_a_circle_of_waits_has_a_line_for_each_who_waits() -> None:
    card = shown(document("order_inversion"), 100)
    assert "Ranks 0-3 wait for each other in a circle. Rank 0 comes to them in another order" in card
    assert "\ncircle  rank 1 ▸ waits for rank 0: all_reduce #7 of side_north [0,1], metrics.py:53\n" in card
    assert card.count("side_north") == 1


def test_a_sentence_that_fits_into_the_whole_width_is_told() -> None:
    """Beside the labels it would have a tenth less room."""
    diagnosis = document("undetermined")
    verdict = diagnosis.verdicts[0]
    verdict.divergence, verdict.sentence = None, "Rank 0 stands there. " * 12 + "It ends here."
    verdict.remedies = [Remedy(title=BY_HAND, text="Do it as it is told here, and nowhere else. " * 12)]
    because = "it depends on what each rank was given, and on nothing else that all of them know"
    verdict.location = Location(file="a.py", line=3, condition="if due:", because=because)
    card = shown(diagnosis, 100)
    assert "It ends here." in card and len(card.splitlines()) <= 16


def test_of_a_long_circle_the_rest_are_told_as_the_others() -> None:
    diagnosis = document("order_inversion")
    verdict = diagnosis.verdicts[0]
    diagnosis.job.world_size, most = 256, format_ranks({*range(1, 256, 2)} - {3})
    rest = format_ranks({*range(0, 256, 2), 3})
    verdict.waits = [
        Wait(ranks=most, waits_for="3", group="dp", seq=23, op="all_reduce"),
        Wait(ranks=rest, waits_for=most, group="default_pg", seq=14, op="all_reduce"),
    ]
    assert "the other 129 ranks" in shown(diagnosis, 100)


def test_it_names_the_call_once_that_was_made_instead() -> None:
    diagnosis = document("different_collective")
    verdict = diagnosis.verdicts[0]
    odd = {one.rank for one in verdict.culprits}
    for cohort in verdict.divergence.cohorts if verdict.divergence else ():
        if cohort.call is not None and odd & {*parse_ranks(cohort.ranks)}:
            cohort.call.file, cohort.call.detail = None, None
            number, op = cohort.call.seq, cohort.call.op
    for one in verdict.culprits:
        one.doing = f"made the {op} instead"
    assert f"made the {op} #{number} instead" in shown(diagnosis, 100)
    assert f"{op} #{number}: made" not in shown(diagnosis, 100)


def test_a_reason_that_the_sentence_has_is_not_said_again() -> None:
    diagnosis = document("order_inversion")
    verdict, why = diagnosis.verdicts[0], "it depends on the files that this rank reads"
    verdict.location = Location(file="train.py", line=3, why_it_can_differ=why)
    assert f"why     {why}" in shown(diagnosis, 100)
    verdict.sentence += f" It can differ between ranks: {why}."
    assert shown(diagnosis, 200).count(why) == 1


@pytest.mark.parametrize("lines", [1, 30])
def test_the_code_that_decides_is_seen_also_where_the_sentences_are_cut_before_it(lines: int) -> None:
    diagnosis = document("undetermined")
    verdict, why = diagnosis.verdicts[0], "it depends on a random number of this process"
    verdict.divergence = None
    verdict.location = Location(
        file="a.py", line=3, condition="for key in sorted(self.kept):", condition_line=3, because=why
    )
    verdict.sentence = (
        "Rank 0 stands there. " * lines + f"It went by `for key in sorted(self.kept):` (a.py:3). {why}."
    )
    card = " ".join(shown(diagnosis, 100).split())
    assert (card.count("for key in sorted(self.kept):"), card.count(why)) == (1, 1)
    assert ("branch for key in" in card) == (lines > 1)


def test_many_sentences_are_cut_before_the_card_is_more_than_is_read_at_once() -> None:
    diagnosis = document("undetermined")
    verdict = diagnosis.verdicts[0]
    verdict.divergence, verdict.sentence = None, "Rank 0 stands there. " * 60
    verdict.remedies = [Remedy(title=BY_HAND, text="Do it as it is told here.")]
    verdict.location = Location(file="a.py", line=3, condition="if due:", because="it depends on a clock")
    assert len(shown(diagnosis, 100).splitlines()) <= 16


def test_of_what_is_only_possible_too_all_parts_together_are_read_at_once() -> None:
    """What is not excluded, where the ranks stand, why, what would tell and what to do: each has its lines."""
    diagnosis = document("root_mismatch")
    verdict = diagnosis.verdicts[0]
    verdict.sentence = (
        "Every member that shows has joined the all_reduce, and one of them waits in it still. " * 5
    )
    verdict.location = Location(file="a.py", line=3, condition="for a in b:", because="it depends on a clock")
    verdict.alternatives = [
        Alternative(cause=one, confidence="hypothesis", sentence="")
        for one in ("skipped_collective", "network_stalled", "gpu_stuck", "host_blocked")
    ]
    look = "TORCH_NCCL_ENABLE_TIMING=1 records which device began the call; stacks show where each host is"
    verdict.missing_evidence = [Missing(what="the state of the devices", how=look)]
    verdict.remedies = [
        Remedy(title=BY_HAND, text=f"Take {'them in the order of their keys, ' * 6}as is right.")
    ]
    card = shown(diagnosis, 100)
    assert len(card.splitlines()) <= 16
    assert all(f"\n{label} " in card for label in ("stands", "why", "next", "fix", "don't"))
    assert "TORCH_NCCL_ENABLE_TIMING=1" in card and "as is right." in card


@pytest.mark.parametrize("letters", range(60, 110))
def test_the_mark_of_what_is_left_out_has_no_line_of_its_own(letters: int) -> None:
    diagnosis = document("network_stalled")
    diagnosis.verdicts[0].sentence = (
        f"{'a' * 6} {'b' * (letters - 6)}. " + "It waits in a call at a line. " * 60
    )
    assert "…" not in [line.strip() for line in shown(diagnosis, 100).splitlines()]


@pytest.mark.parametrize("cause", ["early_exit", "skipped_collective", "uneven_inputs"])
def test_what_a_person_has_to_decide_leaves_the_card_as_short_as_is_read_at_once(cause: str) -> None:
    diagnosis = document(cause)
    verdict = diagnosis.verdicts[0]
    assert verdict.location is not None
    verdict.remedies = [Remedy(title=BY_HAND, text="Each of these rounds hands something on to others. " * 9)]
    verdict.location.because = "it depends on what each rank was given, and thereby on the rank's own number"
    verdict.alternatives = [
        Alternative(cause=one, confidence="hypothesis", sentence="")
        for one in ("host_blocked", "extra_collective", "order_inversion")
    ]
    card = shown(diagnosis, 80)
    assert len(card.splitlines()) <= 16
    assert "The rest: -v" in card and "the page: raf report" in card


def test_where_the_cause_is_sure_and_not_who_it_says_what_is_open() -> None:
    diagnosis = document("root_mismatch")
    verdict = diagnosis.verdicts[0]
    verdict.culprits, verdict.suspects, verdict.missing_evidence = [], [], []
    verdict.alternatives = [
        Alternative(
            cause="root_mismatch", confidence="hypothesis", sentence="Rank 0 names the wrong root.",
            decided_by="the source of the argument",
        )
    ]  # fmt: skip
    card = shown(diagnosis, 100)
    assert "took different ranks for the root" in card.splitlines()[0]
    assert "not excluded: rank 0 names the wrong root" in card
    assert "next    to tell which: look at the source of the argument" in card


def test_where_the_sentence_tells_who_stands_where_the_card_does_not_say_it_again() -> None:
    diagnosis = document("undetermined")
    verdict = diagnosis.verdicts[0]
    verdict.culprits, verdict.divergence = [], None
    diagnosis.standings = [
        Standing(ranks="1,2", state="waits", what="in all_reduce #12 of default_pg", told_by="calls"),
        Standing(ranks="12", state="stands", what="in save, io.py:4", told_by="stack"),
        Standing(ranks="0", state="stands", what="in close, office.py:61", told_by="stack"),
    ]  # fmt: skip
    verdict.sentence = (
        "Ranks 1-3 wait in the all_reduce (group default_pg [0-7], seq 12). Rank 0: in close, office.py:61."
    )
    assert re.findall(r"▸ (.*)", shown(diagnosis, 100)) == ["in save, io.py:4"]


def test_who_waits_in_one_call_of_like_groups_stands_in_one_line() -> None:
    diagnosis = document("undetermined")
    verdict = diagnosis.verdicts[0]
    verdict.culprits, verdict.divergence, verdict.sentence = [], None, "Nobody can be named."
    diagnosis.standings = [
        Standing(
            ranks=str(rank), state="waits", what=f"in the {op} at a.py:9 (group dp [{rank - 4},{rank}], seq 7)",
            told_by="calls",
        )
        for rank, op in ((5, "all_reduce"), (6, "all_reduce"), (7, "barrier"))
    ]  # fmt: skip
    assert re.findall(r"(rank.*\S) +▸ (.*)", shown(diagnosis, 100)) == [
        ("ranks 5,6", "wait in all_reduce #7 a.py:9 of dp [1,5], [2,6]"),
        ("rank 7", "waits in barrier #7 a.py:9 of dp [3,7]"),
    ]


def test_a_place_that_was_cut_off_the_sentence_stands_below_it() -> None:
    diagnosis = document("undetermined")
    verdict = diagnosis.verdicts[0]
    verdict.culprits, verdict.divergence = [], None
    diagnosis.standings = [Standing(ranks="1", state="stands", what="in save, io.py:4", told_by="stack")]
    verdict.sentence = "Rank 1: in save, io.py:4."
    assert "stands" not in shown(diagnosis, 60)
    verdict.sentence = "It is so. " * 60 + verdict.sentence
    assert "stands  rank 1 ▸ in save, io.py:4" in shown(diagnosis, 60)


@pytest.mark.parametrize("width", range(24, 100, 7))
def test_what_is_cut_is_cut_between_words(width: int) -> None:
    said = (
        "Rank 5 skipped 12 calls, beginning with the all_gather at comm.py:38, the 109th call by this path. "
        * 3
    )
    sheet = Sheet(document("killed"), UNICODE, width, ROOMS[0])
    kept = sheet.cut(said).plain.removesuffix(" …")
    assert said.startswith(kept) and len(said) > len(kept) and said[len(kept)] in " ,."
    assert len(sheet.cut("x" * 400).plain) > width / 2, "there is something to see of one long word"


def test_the_code_shows_where_the_ways_part() -> None:
    card = shown(document("rank_conditional"), 100, verbose=True).splitlines()
    (condition,) = [line for line in card if "rank == 3:" in line]
    (call,) = [line for line in card if "dist.all_reduce(loss_sum)" in line]
    assert re.search(r"AB +85 \?", condition)
    assert re.search(r" B +86 >", call)


def test_where_nobody_is_known_to_be_at_fault_it_says_so_first_and_what_would_tell() -> None:
    diagnosis = document("undetermined")
    assert shown(diagnosis, 100).startswith("HANG: rank 0 did not join, cause open")
    diagnosis.verdicts[0].culprits = []
    card = shown(diagnosis, 100)
    assert card.startswith("HANG: cause open")
    assert "\nstands " in card and "\nnext   " in card


def test_where_there_is_no_patch_it_says_what_is_to_be_decided() -> None:
    diagnosis = document("size_mismatch")
    text = "The ranks that must agree on `done` form a group that has no name here: hand the group in, and reduce it. "
    diagnosis.verdicts[0].remedies = [Remedy(title=BY_HAND, text=text * 3)]
    card = " ".join(shown(diagnosis, 100).split())
    assert f"fix By hand: {text.strip()}" in card


#: As long as a patch for a trainer's own reduction.
CODE = "if accelerator.reduce(torch.tensor(float(bool(self.saving.due())), device=self.device)).item() > 0:"


@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        (Remedy(title="Agree", text="All come to it.", diff=f"+{CODE}\n"), f"Agree: {CODE}"),
        (Remedy(title="Agree", text="All come to it.", diff=f"+{CODE * 3}\n"), "Agree. All come to it. the patch"),
        (Remedy(title=BY_HAND, text=f"It is this: {'long, ' * 55}so. Do that."), "so. The rest: -v don't"),
    ],
)  # fmt: skip
def test_of_what_is_to_be_done_nothing_ends_within_a_sentence_or_a_line_of_code(
    remedy: Remedy, said: str
) -> None:
    diagnosis = document("size_mismatch")
    diagnosis.verdicts[0].remedies = [remedy]
    assert said in " ".join(shown(diagnosis, 100).split())


def test_a_sentence_that_is_left_out_is_left_out_whole() -> None:
    diagnosis = document("network_stalled")
    diagnosis.verdicts[0].sentence = "Rank 0 waits in the barrier at train.py:5, and nobody else does. " * 20
    assert "and nobody else does. …\n" in shown(diagnosis, 100)


def test_another_run_in_the_folder_is_told_of() -> None:
    """It would be another answer."""
    diagnosis = document("killed")
    begun = "before the first call (at 2026-11-20 17:54:09 UTC) of the 8 files diagnosed"
    diagnosis.notes += [
        Note(
            file=f"old/{rank}",
            where="",
            what=f"set aside: its last call is 9 s {begun}: an earlier run (attempt 1)",
        )
        for rank in range(4)
    ]
    assert "\nruns    4 files of an earlier run are not in this answer: --attempt 1" in shown(diagnosis, 100)


def test_a_patch_is_pointed_to() -> None:
    diagnosis = document("size_mismatch")
    assert "raf fix" not in shown(diagnosis, 100)
    diagnosis.verdicts[0].remedies = [Remedy(title="Pad", text="Pad it.", diff="--- a\n+++ b\n")]
    assert "the patch: raf fix PATH... --src DIR" in shown(diagnosis, 100)


@functools.cache
def big() -> Diagnosis:
    """16,384 ranks of which every other one is to blame, for a thousand reasons."""
    diagnosis = document("rank_conditional")
    verdict = diagnosis.verdicts[0]
    odd, even = range(1, 16384, 2), format_ranks(range(0, 16384, 2))
    verdict.culprits = [Culprit(rank=r, host=f"node{r // 8:04}", doing=f"in phase {r % 1000}") for r in odd]
    verdict.victims = even
    cohorts = [Cohort(ranks=format_ranks(range(n, 16384, 64))) for n in range(64)]
    verdict.divergence.cohorts = cohorts  # type: ignore[union-attr]
    verdict.waits = [
        Wait(ranks=even, waits_for=format_ranks(odd), group="default_pg", seq=n) for n in range(500)
    ]
    lines = [ExcerptLine(number=n, text="    step()" * 30, cohorts=[0]) for n in range(2000)]
    lines[1000].mark = "condition"
    verdict.excerpts = [Excerpt(file="train.py", cohorts=[even, format_ranks(odd)], lines=lines)]
    diagnosis.verdicts += [verdict] * 40
    return diagnosis


def test_a_big_job_never_floods_the_screen() -> None:
    diagnosis = big()
    card = shown(diagnosis, 100)
    assert len(card.splitlines()) <= 20
    assert card.startswith("HANG: the 8,192 odd ranks 1-16383 ")
    assert "1000 ?" in shown(diagnosis, 100, verbose=True), "the condition is among the lines that are left"


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_words_stay_words(width: int) -> None:
    card = shown(hostile.diagnosis(), width)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028\ud800]", card)
    assert "[red]markup[/red]" in card.replace("\n", "").replace(" ", "")
