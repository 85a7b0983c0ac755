"""Scoring any analyser against incidents with known truth."""
