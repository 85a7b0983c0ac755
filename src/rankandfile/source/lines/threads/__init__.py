"""What threads and processes that the program starts do to a line: who gave them their work, what they inherit."""
