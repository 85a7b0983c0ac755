"""Pack a case for a support ticket, with or without names; open one."""

ORDER = 110
