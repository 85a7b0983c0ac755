"""Programs of whose messages the numbers of one group do not tell which are owed."""

from __future__ import annotations

import pytest
from support.source.toy_runs import tree

from rankandfile.source.lines.of_stages.untold_transfers import untold_transfers
from rankandfile.source.program.modules import Program

PROGRAM = """
import torch.distributed as dist

def exchange(x, halo, rank, size, ring=None):
    {sends}
    {receives}
"""


@pytest.mark.parametrize(
    ("sends", "receives", "groups", "untold"),
    [
        ("request = dist.isend(x, rank + 1)", "dist.recv(halo, rank - 1); request.wait()", True, False),
        ("dist.send(x, rank + 1)", "dist.recv(halo, rank - 1, None)", True, False),
        ("dist.isend(x, rank + 1)", "dist.recv(halo, rank - 1)", False, True),
        ("request = dist.isend(x, rank + 1)", "dist.recv(halo, rank - 1)", False, True),
        ("dist.send(x, rank + 1, group=ring)", "dist.recv(halo, rank - 1)", True, True),
        ("dist.send(x, rank + 1)", "dist.recv(halo, rank - 1, ring)", True, True),
        ("dist.send(x, rank + 1, group=ring)", "dist.recv(halo, rank - 1)", False, False),
        ("pair = [dist.P2POp(dist.isend, x, rank + 1, ring)]", "dist.batch_isend_irecv(pair)", True, True),
        ("work = rpc.rpc_async('next', torch.add, (x, 1))", "work.wait()", False, True),
        ("pair = [dist.P2POp(dist.isend, x, rank + 1)]", "dist.batch_isend_irecv(pair)", True, False),
    ],
)
def test_sends_in_other_groups_and_sends_that_are_let_go_of_are_untold(
    sends: str, receives: str, groups: bool, untold: bool
) -> None:
    source = tree({"ring.py": PROGRAM.format(sends=sends, receives=receives)})
    assert untold_transfers(Program(source), groups) is untold
