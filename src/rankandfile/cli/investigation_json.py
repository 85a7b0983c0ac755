"""An investigation as one document: what the rules conclude, what a model adds, what was proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rankandfile.model.diagnosis import to_json

if TYPE_CHECKING:
    from rankandfile.agent.llm.account import Account
    from rankandfile.agent.proof import Proof
    from rankandfile.model.diagnosis import Diagnosis

SCHEMA = "rankandfile.investigation/1"


def document(diagnosis: Diagnosis, account: Account | None, proof: Proof | None) -> str:
    whole = {
        "schema": SCHEMA,
        "diagnosis": msgspec.Raw(to_json(diagnosis)),
        "model": account,
        "proof": proof,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
