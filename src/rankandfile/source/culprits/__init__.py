"""Whom the code names, where the evidence shows two paths and nobody who left the usual one."""
