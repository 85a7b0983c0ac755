"""Files, folders and archives: from what a person gives to files that can be opened, bounded and spooled."""
