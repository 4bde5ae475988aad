"""Records for the tests of the store."""

from __future__ import annotations

from hypothesis import strategies as st

from probatum.core.records import (
    Execution,
    ExecutionStatus,
    Finish,
    Identity,
    Item,
    Limits,
    Message,
    Outcome,
    Program,
    Request,
    Response,
    Rolling,
    Sampling,
    Scoring,
)
from probatum.core.run import Run, RunState, TaskRun
from probatum.core.status import Status

MODEL = Identity(provider="test", name="model")


def run_of(id_: str = "abc123", **fields) -> Run:
    now = {"created": "2026-11-30T10:00:00Z", "updated": "2026-11-30T10:00:00Z"}
    return Run(**{"id": id_, "model": MODEL, "tasks": (), "state": RunState.RUNNING, **now, **fields})


def task_of(task: str = "t", **fields) -> TaskRun:
    return TaskRun(**{"task": task, "protocol": "p", "recipe": {"a": [1]}, "items": "i", **fields})


def graded(number: int, sample: int = 0, *, prompt: str = "prompt", score: float = 1.0):
    """Position, item, requests and outcome of sample `sample` of item `number`."""
    item = Item(id=f"item-{number}", fields={"question": f"What is {number}?"}, targets=(str(number),))
    request = Request(
        item_id=item.id, sample=sample, prompt=f"{prompt} {number}", sampling=Sampling(seed=sample)
    )
    outcome = Outcome(
        item_id=item.id, sample=sample, status=Status.SCORED, scores={"exact": score}, answer=str(number)
    )
    return number, item, (request,), outcome


def answer(request: Request, text: str | None = None, **fields) -> tuple[Request, Response]:
    return request, Response(
        request=request.key, text=f"answer to {request.prompt}" if text is None else text, **fields
    )


# Strategies: any text at all (lone surrogates, NUL, line separators), any JSON data, any record.

any_text = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("\ud800\udfff\ud83d\ude00\0\x1b\u2028\u2029\ufeff\n\r\\\"'%:é😀"),
    ),
    max_size=40,
) | st.builds(
    lambda part, times: part * times,
    st.text(st.characters(exclude_categories=()), max_size=3),
    st.integers(80, 400),
)
numbers = st.floats(allow_nan=False)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(any_text, json_data, max_size=4)
texts = st.lists(any_text, max_size=3).map(tuple)
counts = st.integers(0, 2**31)
maybe = lambda strategy: st.none() | strategy  # noqa: E731 - reads as a word below

items = st.builds(
    Item,
    id=any_text,
    fields=json_objects,
    targets=texts,
    choices=texts,
    cluster=maybe(any_text),
    stratum=maybe(any_text),
)
samplings = st.builds(
    Sampling,
    max_tokens=counts,
    temperature=finite,
    top_p=finite,
    top_k=counts,
    stop=texts,
    seed=maybe(counts),
)
rollings = st.builds(Rolling, window=maybe(counts), stride=maybe(counts), begin_each=st.booleans())
scorings = st.builds(
    Scoring,
    boundary=st.sampled_from(["common", "count", "apart"]),
    begin=st.sampled_from(["tokenizer", "always", "never"]),
    first=st.sampled_from(["begin", "skip"]),
    overflow=st.sampled_from(["refuse", "left", "left_bare"]),
    rolling=maybe(rollings),
    begin_twice=st.booleans(),
)
messages = st.builds(Message, role=any_text, content=any_text)
requests = st.builds(
    Request,
    item_id=any_text,
    sample=counts,
    part=counts,
    prompt=any_text | st.lists(messages, max_size=3).map(tuple),
    continuation=maybe(any_text),
    sampling=samplings,
    scoring=scorings,
)


def responses_to(request: Request):
    return st.builds(
        Response,
        request=st.just(request.key),
        text=any_text,
        finish=st.sampled_from([Finish.STOP, Finish.LENGTH, Finish.REFUSAL, Finish.FILTERED]),
        stop=maybe(any_text),
        reasoning=maybe(any_text),
        prompt_tokens=maybe(counts),
        completion_tokens=maybe(counts),
        logprobs=maybe(st.lists(numbers, max_size=4).map(tuple)),
        greedy=maybe(st.booleans()),
        tokens=maybe(st.lists(counts, max_size=4).map(tuple)),
        scored_bytes=maybe(counts),
        cut_tokens=maybe(counts),
        reason=maybe(any_text),
        attempts=counts,
        seconds=maybe(finite),
        model=maybe(any_text),
    )


programs = st.builds(
    Program,
    code=any_text,
    tests=any_text,
    entry_points=texts,
    mode=st.sampled_from(["split", "joint"]),
    language=any_text,
    limits=st.builds(Limits, cpu_seconds=finite, wall_seconds=finite, memory_bytes=counts),
)
executions = st.builds(
    Execution,
    program=st.just("0" * 64),
    status=st.sampled_from(
        [status for status in ExecutionStatus if status is not ExecutionStatus.SANDBOX_ERROR]
    ),
    detail=maybe(any_text),
    message=maybe(any_text),
    cpu_seconds=maybe(finite),
    wall_seconds=maybe(finite),
    peak_rss_bytes=maybe(counts),
    stdout=any_text,
    stderr=any_text,
    isolation=any_text,
    verdict_trust=any_text,
)
outcomes = st.builds(
    Outcome,
    item_id=any_text,
    sample=counts,
    status=st.sampled_from(Status),
    scores=st.dictionaries(any_text, numbers, max_size=3),
    answer=maybe(any_text),
    rule=maybe(any_text),
    span=maybe(st.tuples(counts, counts)),
    reason=maybe(any_text),
    execution=maybe(executions),
)
task_runs = st.builds(
    TaskRun,
    task=any_text,
    protocol=any_text,
    recipe=json_objects,
    items=any_text,
    requests=maybe(any_text),
    planned=counts,
    origin=json_objects,
    summary=json_objects,
)
runs = st.builds(
    Run,
    id=any_text,
    model=st.builds(Identity, provider=any_text, name=any_text, settings=json_objects),
    tasks=st.lists(task_runs, max_size=3, unique_by=lambda task: task.task).map(tuple),
    state=st.sampled_from(RunState),
    created=st.just("2026-11-30T10:00:00Z"),
    updated=st.just("2026-11-30T10:00:00Z"),
    options=json_objects,
    environment=json_objects,
)
