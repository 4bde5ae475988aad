"""Empty generations are flagged."""

from __future__ import annotations

import pytest

from probatum.core.records import Finish, Item, Outcome, Request, Response
from probatum.core.run import Sample
from probatum.core.status import Status
from probatum.runner.emptiness import emptiness, generations


@pytest.mark.parametrize(
    ("texts", "share", "flagged"),
    [
        (["", "", " \n", "42"], 0.75, True),
        ([""] + ["x"] * 19, 0.05, False),
        ([""] + ["x"] * 18, 1 / 19, True),
        ([], 0.0, False),
        (["a"], 0.0, False),
    ],
)
def test_a_share_above_the_threshold_is_told(texts: list[str], share: float, flagged: bool) -> None:
    found = emptiness(texts)
    assert found.share == pytest.approx(share)
    assert (found.note() is not None) is flagged


def test_the_flag_names_share_and_counts() -> None:
    assert emptiness(["", "", "", "42"]).note().startswith("75% empty generations (3 of 4): ")


def sample(text: str, finish: Finish = Finish.STOP, **fields: object) -> Sample:
    continuation = fields.pop("continuation", None)
    request = Request(item_id="i", prompt="p", continuation=continuation)
    return Sample(
        task="t",
        position=0,
        item=Item(id="i", fields={}),
        requests=(request,),
        responses=(Response(request=request.key, text=text, finish=finish, **fields),),
        outcome=Outcome(item_id="i", sample=0, status=Status.NO_ANSWER),
    )


def test_only_what_was_generated_counts() -> None:
    samples = [
        sample(""),
        sample("x"),
        sample("", reasoning="thought"),
        sample("", Finish.REFUSAL),
        sample("", Finish.INFRA_ERROR),
        sample("", continuation=" A"),
    ]
    assert list(generations(samples)) == ["", "x", "thought"]
