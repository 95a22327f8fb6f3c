"""What `rlvr doctor` looks at: one module of checks for each thing that can go wrong before step 1."""
