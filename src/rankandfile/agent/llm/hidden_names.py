"""Names that do not leave the machine: what is sent has pseudonyms, what comes back is read with the names again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from rankandfile.evidence.redact.names import Names
from rankandfile.evidence.redact.pseudonyms import Pseudonyms
from rankandfile.evidence.redact.tables import learn
from rankandfile.evidence.redact.text import Redactor
from rankandfile.model.case import Case

_PSEUDONYM = re.compile(r"\b[a-z]+-[a-z2-7]{8,52}\b")


class NamesAsTheyAre:
    """What is sent is what there is."""

    @property
    def key(self) -> bytes | None:
        return None

    def hide(self, text: str) -> str:
        return text

    def show(self, value: Any) -> Any:
        return value

    def given(self) -> dict[str, dict[str, str]]:
        return {}


@dataclass
class HiddenNames(NamesAsTheyAre):
    names: Names
    pseudonyms: Pseudonyms
    _real: dict[str, str] = field(default_factory=dict)
    """Pseudonym -> the name as it was written."""

    @property
    def key(self) -> bytes | None:
        return self.pseudonyms.key

    def hide(self, text: str) -> str:
        self.names.learn(text)
        hidden = Redactor(self.names, self.pseudonyms).text(text)
        for values in self.pseudonyms.given().values():
            for value, name in values.items():
                if name not in self._real:
                    # Pseudonyms are of small letters; a path or a line of code is compared with its own.
                    written = re.search(re.escape(value), text, re.IGNORECASE)
                    self._real[name] = written[0] if written else value
        return hidden

    def show(self, value: Any) -> Any:
        if isinstance(value, str):
            return _PSEUDONYM.sub(lambda found: self._real.get(found[0], found[0]), value)
        if isinstance(value, list):
            return [self.show(one) for one in value]
        if isinstance(value, dict):
            return {key: self.show(one) for key, one in value.items()}
        return value

    def given(self) -> dict[str, dict[str, str]]:
        return self.pseudonyms.given()


def hidden_names(case: Case, names: Names, key: bytes | None) -> HiddenNames:
    """The names of a case and of its asker, each with a pseudonym; the same `key` gives the same ones."""
    learn(case, names)
    return HiddenNames(names, Pseudonyms(key))
