"""Measure what a compaction keeps of what is needed later."""
