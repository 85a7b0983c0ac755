"""The verbs: pure functions from model to model that end in a verdict.

`gather` the facts of a case, add the `findings` of every source of them, and `decide` which are believed; `with_source`
adds what the program's code says of that.
"""

from .diagnose import conclude, decide, diagnose
from .facts import Facts, gather
from .verdict.precedence import Findings, findings, with_source

__all__ = ["Facts", "Findings", "conclude", "decide", "diagnose", "findings", "gather", "with_source"]
