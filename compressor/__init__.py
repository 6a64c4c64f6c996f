"""Compact agent and chat transcripts, and prove what survived."""
