"""Whom the code names, where the evidence shows two ways and nobody who left the usual one."""
