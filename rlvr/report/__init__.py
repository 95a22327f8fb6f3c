"""Pages that people read: what a run did, told with its intervals, warnings and single responses."""
