"""Where all stand in a setup or in making a group: which line lets them count differently who belongs to it."""
