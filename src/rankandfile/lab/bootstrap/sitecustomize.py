"""Loaded by the interpreter before the training script when the lab puts this folder on PYTHONPATH.

The first process imports torch once and forks the ranks, so that a run of four ranks pays for one import. Each
rank then goes on to its script as `__main__`: no launcher frame shows in any stack.
"""

import os

_control = os.environ.pop("RAF_LAB_CONTROL", "")
if _control:
    try:
        from rankandfile.lab import blackbox

        blackbox.become_ranks(_control)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(70)
