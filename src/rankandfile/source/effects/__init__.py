"""What functions do to the other ranks: the collectives that they issue, as the sequences that control can take."""
