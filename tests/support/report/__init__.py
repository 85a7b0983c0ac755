"""Pages, and the browser that opens them."""
