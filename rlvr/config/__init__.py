"""The configuration: models, loading (TOML and overrides), checks, and the annotated document."""
