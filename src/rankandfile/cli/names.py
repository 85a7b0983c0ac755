"""Names that Tab completes: causes, rules, scenarios of the lab, coding agents. By files, so that nothing is loaded."""

from __future__ import annotations

from rankandfile import listing


def cause_names(incomplete: str) -> list[str]:
    """``early_exit`` for ``ear``."""
    return [one for one in listing.names("rankandfile.reason.causes") if one.startswith(incomplete)]


def rule_names(incomplete: str) -> list[str]:
    """``unsynced-stop-flag`` for ``uns``."""
    words = (one.replace("_", "-") for one in listing.names("rankandfile.source.rules"))
    return [one for one in words if one.startswith(incomplete)]


def scenario_names(incomplete: str) -> list[str]:
    """Real ones are modules; those that are simulated have to be asked for."""
    from rankandfile.lab.sim import catalog

    real = listing.names("rankandfile.lab.scenarios")
    return [one for one in (*real, *catalog.scenarios()) if one.startswith(incomplete)]


def agent_names(incomplete: str) -> list[str]:
    """``codex`` for ``co``."""
    from rankandfile.agent.skill.install import AGENTS

    return [one for one in AGENTS if one.startswith(incomplete)]
