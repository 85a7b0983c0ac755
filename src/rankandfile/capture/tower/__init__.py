"""What a job tells a tower: reports of its nodes, and its cases; straight, or by way of a Redis."""
