"""Dump before tear-down: a rank that fails and destroys its groups takes what it did with it."""

from __future__ import annotations

import textwrap

from rankandfile.recorder_names import DUMP_FILE, OLD_DUMP_FILE
from rankandfile.source.remedies.pattern import Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.words import quoted

from .tear_down_after_success import around

_DUMP = '''
def {name}():
    """Keep what the flight recorder of this rank holds: once its groups are destroyed, nobody can ask for it."""
    recorder = {torch}._C._distributed_c10d
    dump = getattr(recorder, "_dump_nccl_trace", None) or recorder._dump_fr_trace
    stem = os.environ.get("OLD_DUMP_FILE", "/tmp/nccl_trace_rank_")
    stem = os.environ.get("DUMP_FILE", stem)
    with open(f"{{stem}}{{{dist}.get_rank()}}", "wb") as file:
        file.write(dump())
'''.replace("OLD_DUMP_FILE", OLD_DUMP_FILE).replace("DUMP_FILE", DUMP_FILE)


def make(place: PlaceToMend, plain: bool) -> Draft | None:
    found = around(place)
    if found is None:
        return None
    module, attempt = found
    say = spelling(place, plain, module)
    dump = say.helper("dump_flight_recorder", _DUMP)
    say.edits.imports.append("import os")
    inside = "".join(module.lines_of(statement) for statement in attempt.body)
    last = "".join(module.lines_of(statement) for statement in attempt.finalbody)
    say.edits.replace(
        attempt,
        f"try:\n{textwrap.indent(inside, ' ' * 4)}except BaseException:\n    {dump}()\n    raise\n"
        f"finally:\n{textwrap.indent(last, ' ' * 4)}",
    )
    return Draft(
        say.edits,
        "Dump before tear-down",
        f"{quoted(module, attempt.finalbody[0])} also runs on a rank that has failed, and with its groups goes "
        "the record of what it did. It is written before, so that the next failure leaves a dump of every rank.",
        "This fixes no hang: it keeps the evidence of the next one.",
    )


ORDER = 180
PATTERN = Pattern("dump_before_tear_down", frozenset({"raised", "teardown_only", "exited"}), make)
