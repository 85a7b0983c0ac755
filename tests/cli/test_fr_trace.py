"""`raf fr-trace` takes what torch's own analyser takes, and answers what is true."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.evidence.sample_dumps import NOW, REDUCE, call, with_calls

from rankandfile.cli.commands.fr_trace import parser
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_types import Dump, GroupConfig, GroupStatus
from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow


def test_every_argument_of_torch_is_taken() -> None:
    torch_s = pytest.importorskip("torch.distributed.flight_recorder.components.config_manager").JobConfig()
    ours = {name: action for action in parser()._actions for name in action.option_strings}
    for action in torch_s.parser._actions:
        for name in action.option_strings:
            assert ours[name].nargs == action.nargs, name
            assert (ours[name].type or str) in (action.type or str, Path), name


@pytest.mark.parametrize(
    ("incident", "culprit"),
    [("peers-device-stuck", 3), ("peers-tp-dp-cascade", 3), ("peers-ring-wrapped", 1)],
)
def test_it_is_right_where_torch_blames_the_wrong_ones(
    raf: Raf, tmp_path: Path, incident: str, culprit: int
) -> None:
    dumps = simulate(incident, tmp_path / "case") / "evidence" / "dumps"
    written = tmp_path / "answer.json"
    done = raf("fr-trace", dumps, "--allow-incomplete-ranks", "-o", written)
    assert done.status == 1
    first = done.out.splitlines()[0]
    assert f"rank {culprit}" in first.lower()
    verdicts = json.loads(written.read_text())["verdicts"]
    assert [one["rank"] for one in verdicts[0]["culprits"]] == [culprit]


def test_entries_are_printed_and_filtered(raf: Raf, other_op: Path) -> None:
    def columns(*filters: object) -> list[str]:
        return raf("fr-trace", other_op, "-j", *filters).out.split("\u2500")[0].split()

    assert columns()[-4:] == ["0", "1", "2", "3"]
    assert columns("--selected-ranks", 0, 3)[-3:] == ["seq", "0", "3"]
    without, named = (
        raf("fr-trace", other_op, "-j", "--pg-filters", name).out for name in ("nobody", "default_pg")
    )
    assert "broadcast" not in without
    assert "broadcast" in named


def test_stacks_are_printed_on_request(raf: Raf, other_op: Path) -> None:
    plain = raf("fr-trace", other_op, "-j").out
    stacks = raf("fr-trace", other_op, "-j", "--print_stack_trace").out
    assert len(stacks) > 2 * len(plain)


def test_a_filter_without_the_entries_it_filters_is_refused(raf: Raf, other_op: Path) -> None:
    for arguments in (["--selected-ranks", 0], ["--pg-filters", "default_pg"]):
        done = raf("fr-trace", other_op, *arguments)
        assert done.status == 2
        assert "-j" in done.err


def test_the_steps_of_the_reasoning_are_shown_on_request(raf: Raf, other_op: Path) -> None:
    assert len(raf("fr-trace", other_op, "-v").err) > len(raf("fr-trace", other_op).err)


def test_ranks_are_read_behind_a_prefix(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    for dump in other_op.iterdir():
        (tmp_path / f"job-17.{dump.name.rsplit('_', 1)[-1]}").write_bytes(dump.read_bytes())
    assert raf("fr-trace", tmp_path, "-p", "job-17.").out == raf("fr-trace", other_op).out


def test_replica_groups_need_their_size(raf: Raf, other_op: Path) -> None:
    done = raf("fr-trace", other_op, "--transform-ft")
    assert (done.status, "--group-world-size" in done.err) == (2, True)


def written(folder: Path, waiting: set[int], groups: dict[int, GroupConfig]) -> Path:
    """Ranks made three calls on their groups; those waiting have made a fourth."""
    for rank, group in groups.items():
        kind = REDUCE._replace(group=group.name, desc=group.desc)
        made = [
            (kind, call(i, 1 + i, started_ns=NOW + i, completed_ns=NOW + i + 1, retired=True))
            for i in range(3)
        ]
        made += [(kind, call(3, 4))] if rank in waiting else []
        made = [
            (kind, entry._replace(time_created_ns=entry.time_created_ns + 100 * rank)) for kind, entry in made
        ]
        status = {group.name: GroupStatus(len(made), 3, 3)}
        file = folder / f"nccl_trace_rank_{rank}"
        file.write_bytes(
            write_pickle(with_calls(Dump([], [], {group.name: group}, status, "2.27"), *made), "2.10")
        )
        os.utime(file, ns=(NOW + 10**12, NOW + 10**12))
    return folder


def test_ranks_within_replica_groups_are_made_global(raf: Raf, tmp_path: Path) -> None:
    """torchft: every replica group numbers its own ranks from 0. Rank 3 is the second of the second one."""
    dumps = written(tmp_path, {2}, {rank: GroupConfig("0", "default_pg", (0, 1)) for rank in range(4)})
    done = raf("fr-trace", dumps, "--transform-ft", "--group-world-size", 2)
    assert done.status == 1
    assert "rank 3" in done.out.splitlines()[0].lower()
    assert "[2,3]" in done.out and "[0,1]" not in done.out


def test_a_dump_that_is_not_there_stops_nothing(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    for dump in other_op.iterdir():
        if not dump.name.endswith("3"):
            (tmp_path / dump.name).write_bytes(dump.read_bytes())
    with_word = raf("fr-trace", tmp_path, "--allow-incomplete-ranks")
    assert with_word.status in (1, 3)
    assert raf("fr-trace", tmp_path).out == with_word.out


def test_no_more_verdicts_are_printed_than_asked_for(raf: Raf, tmp_path: Path) -> None:
    left, right = GroupConfig("1", "left", (0, 1)), GroupConfig("2", "right", (2, 3, 4))
    dumps = written(tmp_path, {0, 2, 4}, {rank: left if rank < 2 else right for rank in range(5)})
    assert "rank 1" in raf("fr-trace", dumps).out.split("\nalso ")[1].lower()
    assert "\nalso " not in raf("fr-trace", dumps, "--mismatch_cap", 1).out


def test_the_same_in_two_groups_of_a_kind_is_said_once(raf: Raf, tmp_path: Path) -> None:
    pairs = [GroupConfig("1", "left", (0, 1)), GroupConfig("2", "right", (2, 3))]
    dumps = written(tmp_path, {0, 2}, {rank: pairs[rank // 2] for rank in range(4)})
    out = raf("fr-trace", dumps).out
    assert "ranks 1,3" in out.splitlines()[0].lower() and "\nalso " not in out
