"""Faults reported of other tools, as cases for ours: `python -m tests.cases FILE`.

One module an area holds thin adapters from the cases' neutral operation names to the public API;
`frame.py` runs a file of cases through them. No adapter knows a case.
"""
