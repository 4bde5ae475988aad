"""Records, statuses, the frozen protocol and its digest, errors. Standard library only."""
