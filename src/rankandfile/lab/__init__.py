"""Real hangs with known truth, and a scorer for any analyser. Nothing imports it.

`catalog.scenarios()` lists what there is, `run.run_scenario(name, out_dir, twin=False)` makes one incident,
`variants.make(incident, variant, out_dir)` takes evidence away, and
`diagnosed.diagnosed(paths, src)` is what Rank & File says of what is left.

An incident is a folder:

    truth.toml       what really happened; never shown to an analyser
    calls.jsonl      which rank issued which call, recorded beside torch; never shown to an analyser
    src/             the source tree as it ran, with the fault in it
    evidence/dumps   Flight Recorder dumps, exactly as torch wrote them
    evidence/stacks  py-spy text and JSON, faulthandler text, the debug server's stacks file
    evidence/logs    one log per rank, or one merged log
    evidence/exits.json, evidence/env.txt

Scenarios that cut network links run each rank on a virtual host of its own (`virtual_hosts`), and need root for it.

Everything in it comes from real processes, with three helps that make gloo behave as NCCL does in a hang: the
sockets of a rank that died or left stay open (`sockets`, `blackbox`), a thread of gloo that would abort the process
over a mismatch is parked (`blackbox`), and the watchdog's lines, which gloo does not print, are worked out from the
ranks' real state (`watchdog`).
"""
