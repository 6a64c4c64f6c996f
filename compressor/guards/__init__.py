"""What a text says that must not be lost: a library for the kinds that find facts and the checks that prove them.

Every function takes plain text and gives offsets into it. Cue words, units and patterns are data in `rules/cues/`.
"""
