"""NCCL's RAS service as a live witness: asked again and again, what it counts tells moving from standing still."""
