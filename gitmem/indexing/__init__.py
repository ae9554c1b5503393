"""What to add, keep and drop, and doing it. Segments are written here and nowhere else."""
