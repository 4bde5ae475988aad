"""Items and answers that the tests of text scores share."""

from __future__ import annotations

from probatum.core.protocol import Scorer
from probatum.core.records import Finish, Item, Outcome, Response


def item(*targets: str, name: str = "1", **fields: object) -> Item:
    return Item(id=name, fields=fields, targets=targets)


def graded(
    scorer: Scorer, text: str, *targets: str, finish: Finish = Finish.STOP, **fields: object
) -> Outcome:
    response = Response(request="r", text=text, finish=finish)
    return scorer.grade(item(*targets, **fields), 0, [response])
