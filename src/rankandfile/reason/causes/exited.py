"""Its process ended with an error code, and nothing says of an exception."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER, FLAG
from rankandfile.model.causes import Cause
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import AskedRank, Facts, Story, perhaps

CAUSE = Cause(
    word="exited",
    family="process",
    place=30,
    meaning="A process ended without a word of an exception.",
    help="The other ranks wait for a process that is gone. Look for `sys.exit` or `os._exit` on the path "
    "that it took.",
    remedies=(FLAG,),
    anti_advice=(FIRST_LOGGER,),
    did="exited",
    title="A process ended by itself",
    page="""
## How it comes about

Somebody called `sys.exit` or `os._exit`, or the script reached its end: no traceback, and no signal.

```python
if not checkpoint.exists():
    sys.exit(3)  # on the one host where it is missing
```

The exit status is the evidence: the launcher's log has it, or the workload manager.
""",
    scenario="exited-3",
)


#: What a shell returns where a signal killed what it ran.
_AS_BY_SIGNAL = tuple(f"exit code {128 + number}" for number in range(1, 32))


@teller(precedence=50)
def with_an_error_code(facts: Facts, asked: AskedRank) -> Story | None:
    accounts = facts.accounts
    end = accounts.ends.get(asked.rank)
    if end is None or end.kind != "exited" or asked.rank in accounts.echoes:
        return None
    if asked.rank not in accounts.logged and any(one.kind == "killed" for one in accounts.ends.values()):
        # Who loses a peer ends with an error, too: without its log nothing says that it was the first.
        return None
    as_by_signal = end.how in _AS_BY_SIGNAL
    sure = asked.rank in accounts.logged and not end.contradicted and not as_by_signal
    return Story(
        cause=CAUSE.word,
        confidence="established" if sure else "supported",
        doing=end.words + (", without a word of an exception" if asked.rank in accounts.logged else ""),
        evidence=end.evidence,
        alternatives=(
            *(
                (
                    perhaps(
                        "killed",
                        "A shell around the program would end with this code where a signal killed it.",
                        [asked.rank],
                        decided_by="a line of the program that exits with this code, or how it was started",
                    ),
                )
                if as_by_signal
                else ()
            ),
            perhaps(
                "raised",
                "An exception may have ended it, and its message been lost.",
                [asked.rank],
                decided_by="its stderr, or the error file of the launcher",
            ),
        ),
        contradicted=end.contradicted,
    )
