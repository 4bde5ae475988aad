"""`python -m probatum`: the command line."""

from __future__ import annotations

from probatum.cli import main

if __name__ == "__main__":
    main()
