"""Flight recorder dumps in every form: pickle, JSON and text tables, to columns."""
