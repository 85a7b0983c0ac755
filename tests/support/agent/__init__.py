"""An investigation's partners: MCP clients, a model that plays, and recorded conversations."""
