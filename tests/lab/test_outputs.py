"""Whatever an output says of ranks and calls is so: read from its words alone, held against tables and log of calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.opened_sets import archives, name_of, unpacked
from support.selected import in_lab
from support.spoken.code import Sources, two_places, untrue_of_leaving
from support.spoken.faults import FORMS, Form, faults
from support.spoken.held import Group, Made, Witness, untrue
from support.spoken.reading import header_of, listed, of_branch, of_cohort, of_sentence, of_wait, ranks_in
from support.spoken.statement import Spoken

from rankandfile.lab import catalog as real
from rankandfile.lab import variants
from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.run import simulate
from rankandfile.render.long_lists import said_ranks

HERE = ("skip-nonfinite-ddp",)
#: What is taken away, is taken from these.
OF_EACH_KIND = [
    *(*HERE, "extra-window-same-shape", "killed-oom", "network-stalled", "healthy-ddp"),
    *("cycle-on-devices", "size-metrics", "two-faults"),
]
OF_VARIANTS = ("lost_dump_of_culprit", "only_logs", "wrapped_ring")
SIMULATED = list(catalog.scenarios())
REAL = sorted(s.name for s in real.scenarios() if s.in_suite)
#: Two groups of one name, without descriptions, of which no member list is recorded: they are taken for one.
NOT_TOLD_APART = {"group_made_by_members_only"}
#: The same of an opened set: two groups called `gradient`, which are one group that few ranks made at another place.
OF_ONE_NAME = {("practice-25d", "case-06")}
#: A library makes a call for each value that was logged, all from one line of the program: the log of calls, which has
#: the program's lines alone, does not tell that one rank is at the next of them.
OF_A_LIBRARY = {("practice-36b", "case-01"), ("practice-39d", "case-01")}
#: The exchanges of all layers come by one line in a backward pass, where the log of calls does not tell them apart.
OF_ONE_PASS = {("practice-39d", "case-04")}
#: These left no dumps, so that there is no answer from dumps only.
NO_DUMPS = {"raised-logs-only", "init-stuck", "teardown-stuck"}


def named(form: Form) -> str:
    return form.name.replace(" ", "-")


@pytest.mark.slow
@pytest.mark.parametrize("name", in_lab(SIMULATED, HERE))
def test_outputs_of_simulated_jobs(name: str, tmp_path: Path) -> None:
    incident = simulate(name, tmp_path / name)
    forms = [form for form in FORMS if name not in NO_DUMPS or "dump" not in form.name]
    found = [fault for form in forms for fault in faults(incident, form)]
    assert not found


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", REAL)
def test_outputs_of_real_jobs(name: str, incident: Callable[..., Path]) -> None:
    found = [fault for form in FORMS for fault in faults(incident(name), form)]
    assert not found or name in NOT_TOLD_APART


@pytest.mark.slow
@pytest.mark.parametrize("variant", in_lab(sorted(variants.VARIANTS), OF_VARIANTS))
@pytest.mark.parametrize("name", in_lab(OF_EACH_KIND, HERE))
def test_outputs_where_evidence_was_taken_away(name: str, variant: str, tmp_path: Path) -> None:
    made = variants.make(simulate(name, tmp_path / name), variant, tmp_path / "made")
    assert not faults(made, FORMS[0])


@pytest.fixture(scope="module", params=[*archives("round"), *archives("practice")], ids=name_of)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(request.param, tmp_path_factory.mktemp("opened"))


@pytest.mark.lab
@pytest.mark.parametrize("form", FORMS, ids=named)
def test_outputs_of_opened_sets(opened: Path, form: Form) -> None:
    cases = [
        case
        for case in sorted(opened.iterdir())
        if (case / "evidence").is_dir()
        and (opened.name, case.name) not in OF_ONE_NAME | OF_A_LIBRARY | OF_ONE_PASS
    ]
    assert {case.name: found for case in cases if (found := faults(case, form))} == {}


#: Rank 2 left the all_reduce out, and is in the barrier behind it.
JOB = Witness(
    groups=(Group(frozenset({"0", "default_pg"}), frozenset({0, 1, 2})),),
    calls=(
        *(Made(rank, "broadcast", 0, 1, (("fit.py", 9),)) for rank in range(3)),
        Made(0, "all_reduce", 0, 2, (("fit.py", 20),)),
        Made(1, "all_reduce", 0, 2, (("fit.py", 20),)),
        Made(2, "barrier", 0, 2, (("fit.py", 30),)),
    ),
    whole=frozenset(range(3)),
    ends={2: (1, None, False), 0: (None, None, True)},
    logs="rank 2 raised ValueError: no more batches",
    stands={2: frozenset({("/job/fit.py", 30)})},
)
GROUP = "(group default_pg [0-2], seq 2)"


@pytest.mark.parametrize(
    ("so", "not_so"),
    [
        (f"Ranks 0 and 1 wait in the all_reduce at fit.py:20 {GROUP}.", "Ranks 0-2 wait in the all_reduce at fit.py:20 "
         f"{GROUP}."),
        (f"Rank 2 never issued the all_reduce at fit.py:20 {GROUP}.", f"Rank 1 never issued the all_reduce {GROUP}."),
        (f"Rank 2 never joined the all_reduce {GROUP}; its last call, the broadcast at fit.py:9, is done. "
         "Ranks 0 and 1 wait for it in that all_reduce.",
         f"Rank 2 never joined the all_reduce {GROUP}; its last call, the broadcast at fit.py:9, is done. "
         "Ranks 0-2 wait for it in that all_reduce."),
        ("Rank 2 made the barrier at fit.py:30 where ranks 0 and 1 made the all_reduce at fit.py:20.",
         "Rank 2 made the barrier at fit.py:30 where ranks 0-2 made the all_reduce at fit.py:20."),
        ("Rank 2 skipped the all_reduce at fit.py:20.", "Rank 1 skipped the all_reduce at fit.py:20."),
        ("Rank 2 left the loop early: it is in the barrier at fit.py:30 after it.",
         "Rank 1 left the loop early: it is in the barrier at fit.py:30 after it."),
        ("Before that, rank 2 raised ValueError: no more batches, and went on to that call: the exception was caught.",
         "Before that, rank 2 raised KeyError: 'step', and went on to that call: the exception was caught."),
        ("Rank 2: exited with code 1.", "Rank 0: exited with code 1."),
        ("Rank 2: raised ValueError: no more batches, and exited with code 1.", "Rank 2: raised KeyError: 'step'."),
        ("Rank 2 is in shutdown, fit.py:30, the same in 3 snapshots.", "Rank 2 is in shutdown, fit.py:31."),
        ("Rank 1 went another way than rank 0 at fit.py:3, in fit, by `if dist.get_rank() == 0:` (not taken on rank 1, "
         "taken on rank 0).",
         "Rank 1 went another way than rank 0 at fit.py:3, in fit, by `if dist.get_rank() == 0:` (taken on rank 1)."),
    ],
)  # fmt: skip
def test_a_sentence_is_read_and_held(so: str, not_so: str) -> None:
    assert list(of_sentence(so)) and not of_words(list(of_sentence(so)))
    assert of_words(list(of_sentence(not_so)))


def test_who_is_in_no_call_does_not_wait_and_has_not_made_it() -> None:
    """Rank 2 has made one all_reduce less than the others, and is in none."""
    made = [
        Made(rank, "all_reduce", 0, n, (("fit.py", 20),), open=n == 3) for rank in (0, 1) for n in (1, 2, 3)
    ]
    made += [Made(2, "all_reduce", 0, n, (("fit.py", 20),), open=False) for n in (1, 2)]
    job = replace(JOB, calls=tuple(made), tables=True, stands={})

    def untrue_of(words: str) -> list[str]:
        return [fault for one in of_sentence(words) for fault in untrue(one, job)]

    there = (
        "rank 3 made the barrier at fit.py:9 where ranks {} made the all_reduce at fit.py:20, the 3rd call by this "
        "path."
    )
    assert not untrue_of(there.format("0 and 1")) and untrue_of(there.format("0-2"))
    for words in ("as well", "too"):
        assert not untrue_of(f"Rank 1 waits {words}.") and untrue_of(f"Rank 2 waits {words}.")
    # One that a stack shows in what no recorder keeps waits there.
    job = replace(job, stands={2: frozenset({("/lib/torch/distributed/distributed_c10d.py", 9)})})
    assert not untrue_of("Rank 2 waits too.")


def test_who_is_in_the_loop_that_the_others_are_in_has_not_left_it() -> None:
    text = "def main():\n    for i in range(9):\n        step()\n        if i > 5:\n            save()\n    save()\n"
    places = {"in": (("main.py", 5),), "behind": (("main.py", 6),)}
    said = next(one for one in of_sentence("Rank 2 left the loop early.") if one.kind == "left the loop")
    for where, so in (("in", False), ("behind", True)):
        calls = [Made(rank, "all_reduce", 0, 1, (("main.py", 3),)) for rank in (0, 1)]
        job = replace(JOB, calls=(*calls, Made(2, "barrier", 0, 1, places[where])))
        assert (not list(untrue_of_leaving(said, job, Sources({"main.py": text})))) is so


def test_lines_of_a_card_are_read_and_held() -> None:
    header = header_of("group default_pg [0-2] #2, the 3rd call by this path")
    assert not of_words(
        [*of_cohort("0,1", "all_reduce #2 fit.py:20", header), *of_cohort("2", "barrier #2", header)]
    )
    assert of_words(list(of_cohort("2", "all_reduce #2 fit.py:20", header)))
    assert of_words(list(of_cohort("1", "no call here", header)))
    assert not of_words(list(of_wait("0,1 for 2, in all_reduce #2 of default_pg [0-2]")))
    assert of_words(list(of_wait("0-2 in all_reduce #2 of default_pg [0-2]")))


def test_ranks_as_people_say_them_are_understood() -> None:
    for ranks, world in (
        ("3", 8),
        ("0,2", 4),
        ("0-2,4-31", 32),
        ("0-31", 32),
        (",".join(map(str, range(1, 99, 2))), 99),
    ):
        assert ranks_in(listed(said_ranks(ranks, world), world)) == ranks_in(ranks)


def test_who_took_a_branch_is_held() -> None:
    assert not of_words(list(of_branch("if rank == 2:  taken by rank 2, not taken by ranks 0,1")))
    assert of_words(list(of_branch("if rank == 2:  taken by rank 1, not taken by ranks 0,2")))


def test_a_sentence_with_two_places_for_one_divergence_is_noticed() -> None:
    one = "Rank 1 went another way than rank 0 at fit.py:3, in fit, by `if late:` (taken on rank 1)."
    assert not list(two_places(f"{one} It stands at fit.py:30."))
    assert list(two_places(f"{one} Ranks 0 and 1 went different ways at fit.py:9, in fit."))


def test_a_headline_that_a_message_was_left_out_is_held_against_the_messages() -> None:
    said = Spoken(kind="did", ranks=(0,), what="left out a message", words="HANG: rank 0 left out a message")
    asked = Made(1, "recv", 0, 0, (("fit.py", 12),))
    sent = Made(0, "send", 0, 0, (("fit.py", 11),))
    assert not list(untrue(said, replace(JOB, calls=(*JOB.calls, asked))))
    assert list(untrue(said, replace(JOB, calls=(*JOB.calls, asked, sent))))


def test_a_supposition_states_nothing() -> None:
    assert not list(of_sentence(f"Rank 2 may never have joined the all_reduce {GROUP}."))


def of_words(spoken: list[Spoken]) -> list[str]:
    return [fault for one in spoken for fault in untrue(one, JOB)]
