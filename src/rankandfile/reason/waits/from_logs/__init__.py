"""The same questions where there is not one dump: what the watchdogs' lines of all ranks say together."""
