"""Ways of finding where ranks send and receive: what no recorder keeps, and halves that do not fit."""
