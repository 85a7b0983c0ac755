"""Pack a case for a support ticket, with or without names; open one."""

from rankandfile.cli.panels import SHARE

PANEL = SHARE
ORDER = 110
