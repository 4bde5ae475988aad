"""Whether tests that are said to be added to a benchmark add anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probatum.core.canonical import digest_json

__all__ = ["AddedTests", "added_tests"]


@dataclass(frozen=True, kw_only=True)
class AddedTests:
    """What an extended test set has beside the set it extends."""

    added: int
    """Different tests that the base has not."""
    repeated: int
    """Tests of the extension that the base has, too."""
    lost: int
    """Different tests of the base that the extension has not."""

    @property
    def lint(self) -> tuple[str, ...]:
        """What a person should look at; none where the extension is one."""
        found = []
        if not self.added:
            found.append("no additional tests: a score under the extended set's name would be the base's")
        if self.lost:
            found.append(
                f"{self.lost} tests of the base are not in the extension: it is no stricter everywhere"
            )
        return tuple(found)


def added_tests(
    base: Iterable[Sequence[object]], extended: Iterable[Sequence[object]], *, whole: bool = False
) -> AddedTests:
    """Compares the inputs of an extended test set (EvalPlus' `plus_input`) with those of its base.

    Args:
        base: inputs of each test, plain JSON data.
        extended: those of the extension.
        whole: whether the extension is meant to repeat the base; else only what it adds is looked at.

    >>> added_tests([[1], [2]], [[1], [2]]).lint[0]
    "no additional tests: a score under the extended set's name would be the base's"
    """
    known = {digest_json(test) for test in base}
    seen = [digest_json(test) for test in extended]
    added = set(seen) - known
    lost = len(known - set(seen)) if whole else 0
    return AddedTests(added=len(added), repeated=sum(test in known for test in seen), lost=lost)
