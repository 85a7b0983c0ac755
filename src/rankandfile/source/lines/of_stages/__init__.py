"""Lines by which a stage of a pipeline is out of step with the others, whose sends and receives nobody recorded."""
