"""The program under analysis: its modules, its names, and the places that frames of a run stand for."""
