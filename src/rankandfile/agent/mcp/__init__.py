"""The tools of the investigation for any client of the Model Context Protocol. Imported by `raf mcp` alone."""
