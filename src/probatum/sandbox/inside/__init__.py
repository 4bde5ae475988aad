"""What runs inside a worker's container: standard library only, started with `python -s -S -P`.

Nothing here is imported by the process that evaluates; it only finds the files.
"""
