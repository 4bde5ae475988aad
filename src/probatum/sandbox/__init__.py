"""The sandbox seam: programs in, executions out, one isolated process a program."""

from __future__ import annotations
