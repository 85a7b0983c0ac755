"""Blind sets of found evidence: folders as people have them (stacks, logs, counters of other tools), without a program.

No run can confirm what their author says of them, so the author also says which facts a useful answer holds, and which
sentences would be untrue.
"""
