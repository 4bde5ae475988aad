"""What runs inside a worker's container: standard library only, started with `python -s -S -P`.

Nothing here is imported by the process that evaluates; it only finds the files.
"""

OPEN_FILES = 128  # descriptors that a process may have, and so the end of those to be closed
JUDGE_DIGITS = 100_000  # of an integer that the judge shows or reads: it takes quadratic time, here 0.1 s
JUDGE_MEMORY = 4 << 30  # address space of the judge: hostile results must not take more
