"""Evidence that can be cited, and what could not be read.

An evidence id says where a fact stands, so that an id alone leads back to the file:

========== =====================================================================
``D3#417`` the call with record number 417 in dump 3
``D3@2``   what dump 3 says of group 2: its first and last calls, its counters
``D3``     dump 3 as a whole: its span, its version, its rank
``L2:88``  line 88 of log 2
``S5:12``  line 12 of stack file 5
``X3``     the end of a process, as an exit list or an error file has it
========== =====================================================================

`rankandfile.model.case.Case.evidence` turns an id into its file, place and quoted value.
"""

from __future__ import annotations

import msgspec


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One citable fact: the file, the place in it, and the value as it stands there."""

    id: str
    source: str
    where: str
    quote: str


#: The place in notes on sources that say of one rank what cannot both be so.
DISAGREE = "sources disagree"

#: The place in notes on operations that no contract is known of.
UNKNOWN_OPERATION = "operation"


#: Why a file is set aside, and the note on it: this process would have taken more memory than it may.
NO_ROOM = "what was read before takes all the memory that reading may use (--limit-memory allows more)"

#: How notes on files begin that were read, and do not enter the case.
SET_ASIDE = "set aside: "

#: How the reason ends for which files of one content under several ranks' names are set aside.
NOBODYS = "cannot both have written them"

#: The place in notes on what a verdict would have said, and the tables of the case do not show.
NOT_SAID = "not said"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be read, was kept in part, or was set aside: one clear line."""

    file: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.where}: {self.what}" if self.where else f"{self.file}: {self.what}"


def call_id(dump: int, record: int) -> str:
    return f"D{dump}#{record}"


def group_id(dump: int, group: int) -> str:
    return f"D{dump}@{group}"


def dump_id(dump: int) -> str:
    return f"D{dump}"
