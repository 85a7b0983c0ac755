"""What Python's exceptions tell: which come alike on every rank, and which of one rank's own surroundings."""

EVERYWHERE_ALIKE = {
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "NameError",
    "NotImplementedError",
    "SyntaxError",
}
BY_TYPE = {
    "OSError": ("file_system", "what this rank finds in the file system"),
    "IOError": ("file_system", "what this rank finds in the file system"),
    "FileNotFoundError": ("file_system", "what this rank finds in the file system"),
    "PermissionError": ("file_system", "what this rank finds in the file system"),
    "FileExistsError": ("file_system", "what this rank finds in the file system"),
    "MemoryError": ("memory", "this rank's memory"),
    "OutOfMemoryError": ("memory", "this rank's memory"),
    "Empty": ("queue", "what has reached this rank's queue"),
    "Full": ("queue", "what has left this rank's queue"),
    "TimeoutError": ("clock", "how long this rank waited"),
    "KeyboardInterrupt": ("signal", "a signal that this rank received"),
    "ConnectionError": ("network", "this rank's connection"),
}
