"""Where every rank of a running job stands: from rings, and from stacks where there are none."""
