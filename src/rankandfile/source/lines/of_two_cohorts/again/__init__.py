"""Who made calls more because something was tried again: by a handler in a loop, or by a decorator."""
