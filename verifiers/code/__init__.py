"""Judging programs: tests run in a sandbox, and what a program says is compared where the program is not.

Expected values never enter the candidate's process. What it prints or returns is data and is compared on the host; test
code runs in a process of its own beside it, which reaches the program only by messages (verifiers.code.inside).
"""
