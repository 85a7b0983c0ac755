"""Where machines are: each place knows how they are named, and which of the site's commands reaches them."""
