"""What a run records: metrics, the run folder, its card, and progress on the screen."""
