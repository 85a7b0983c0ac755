"""What runs inside training processes: guards and the recorder. Imports torch late, and nothing that is heavy."""
