"""How processes ended: exit lists, error files, and what stopped or killed processes left behind."""
