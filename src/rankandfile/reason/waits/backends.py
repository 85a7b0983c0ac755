"""By which backend calls were made, as far as that says what can hold them up."""

from __future__ import annotations

from rankandfile.model.case import Case


def on_hosts_alone(case: Case) -> bool:
    """gloo works on the hosts: no device is late, and who has made a call takes part in it."""
    return case.dumps_used["backend"].drop_nulls().unique().to_list() == ["gloo"]


def all_by_gloo(case: Case) -> bool:
    """The same, and no dump leaves open by which backend."""
    return set(case.dumps_used["backend"].unique()) == {"gloo"}
