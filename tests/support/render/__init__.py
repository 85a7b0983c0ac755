"""Diagnoses to show."""
