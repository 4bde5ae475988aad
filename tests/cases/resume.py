"""Resuming and reusing: torn logs, keys of what is kept, runs that are started again."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from probatum.core.canonical import digest
from probatum.core.jsonlines import Recovered, recover_lines
from probatum.core.protocol import Source, Task
from probatum.core.records import Finish, Identity, Item, Message, Prompted, Request, Response, Sampling
from probatum.core.status import FAULTS, Status
from probatum.extraction import FinalNumber
from probatum.prompting import ShotPool, plan_item
from probatum.runner import EvaluatedRun, Options, evaluate
from probatum.runner.resolution import protocol_for
from probatum.scoring import NumberMatch
from probatum.scoring.judged import judged_outcome
from tests.cases.frame import Given, NotMappedError, Said, agree, operation
from tests.fakes import FakeModel, Verbatim, answer_sums, sums_task, write_sums

# ── torn logs ───────────────────────────────────────────────────────────────────────────────────────


def log_agrees(ours: Recovered, expected: Any) -> bool:
    done, again = [record["id"] for _, record in ours.records], ours.again("id")
    if isinstance(expected, Mapping):
        known = {
            "done": done,
            "redo": again,
            "file_after": ours.text,
            "broken": [each.line for each in ours.broken],
        }
        return agree(known, expected)
    kept = re.search(r"ids? ([\d, and]+) kept", expected)
    reported = re.search(r"lines? ([\d, and]+) reported", expected)
    redone = re.search(r"([\d, and]+) (?:is |are )?redone", expected)
    if kept is None:
        raise NotMappedError(f"the right value {expected!r}")
    numbers = [
        [int(each) for each in re.findall(r"\d+", found[1])] if found else None
        for found in (kept, reported, redone)
    ]
    lines = [each.line for each in ours.broken]
    return all(
        wanted is None or wanted == have for wanted, have in zip(numbers, (done, lines, again), strict=True)
    )


@operation("resume_jsonl", agrees=log_agrees)
def resume_jsonl(given: Given) -> Recovered:
    return recover_lines(given["file"])


# ── keys ────────────────────────────────────────────────────────────────────────────────────────────

OF_MODEL = {
    "model": "name",
    "model_name": "name",
    "name": "name",
    "revision": "revision",
    "model_revision": "revision",
    "weights": "weights",
    "model_hash": "weights",
    "weights_hash": "weights",
    "content_hash": "weights",
    "checkpoint": "weights",
    "dtype": "precision",
    "precision": "precision",
    "template": "template",
    "chat_template": "template",
    "tokenizer": "tokenizer",
    "backend": "backend",
}
OF_MODEL |= {"sha": "weights", "model_sha": "weights", "file_sha": "weights", "sha256": "weights"}
OF_MODEL |= {"path": "name", "model_path": "name", "quantization": "precision", "engine": "backend"}
OF_RUN = {
    "shots": "shots",
    "num_fewshot": "shots",
    "seed": "seed",
    "fewshot_seed": "seed",
    "system": "system",
    "workers": "workers",
    "limit": "limit",
}
OF_SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "max_tokens",
    "max_gen_toks": "max_tokens",
    "max_new_tokens": "max_tokens",
    "stop": "stop",
    "until": "stop",
}
OF_RUN |= {"system_prompt": "system", "system_message": "system", "system_instruction": "system"}
SETTINGS = (
    "adapter",
    "lora",
    "peft",
    "attn_implementation",
    "max_model_len",
    "context_length",
    "kv_cache_dtype",
)
"""Settings of a model that change its answers: they are in its identity."""
NESTED = ("gen_kwargs", "generation_kwargs", "params", "sampling", "sampling_params")
"""Objects whose fields are read as if they stood beside the others."""
ROWS = ("dataset_revision", "dataset_version", "dataset_sha", "data_sha", "items")
"""What says which rows are asked: the digest of the items is part of a run's id."""
SAMPLE = ("sample", "repeat", "sample_index", "repeat_index", "index")
PROMPT = ("prompt", "context", "request", "messages")
APART = ("rank", "batch_size", "concurrency", "num_workers", "device", "world_size", "timeout", "retries")
"""What is part of no key, because it is part of no record that a key is made of."""


def prompted_of(prompt: Any, values: Mapping[str, Any]) -> Prompted:
    """A text, or a conversation where there is a system prompt or the prompt is one."""
    system = next(
        (values[name] for name, meant in OF_RUN.items() if meant == "system" and name in values), None
    )
    if isinstance(prompt, list):
        turns = tuple(Message(each["role"], each["content"]) for each in prompt)
    else:
        turns = (Message("user", prompt or ""),)
    if system is None and not isinstance(prompt, list):
        return prompt or ""
    return turns if system is None else (Message("system", system), *turns)


def key_of(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What is kept and found again by: the digests of model and recipe, and the keys of the requests."""
    for name in NESTED:
        if isinstance(values.get(name), Mapping):
            values = {**{key: value for key, value in values.items() if key != name}, **values[name]}
    rows = tuple(str(values[name]) for name in ROWS if name in values)
    values = {name: value for name, value in values.items() if name not in ROWS}
    settings = {name: values[name] for name in SETTINGS if name in values}
    values = {name: value for name, value in values.items() if name not in SETTINGS}
    known = {"task", "version", "task_version", *SAMPLE, *PROMPT, *APART, *OF_MODEL, *OF_RUN, *OF_SAMPLING}
    if unknown := set(values) - known:
        raise NotMappedError(f"a key of {', '.join(sorted(unknown))}")
    named = {
        OF_MODEL[name]: str(value) for name, value in values.items() if name in OF_MODEL and value is not None
    }
    identity = replace(Identity(provider="fake", name="m", settings=settings), **named)
    sampling = {OF_SAMPLING[name]: value for name, value in values.items() if name in OF_SAMPLING}
    if "stop" in sampling:
        stops = sampling["stop"]
        sampling["stop"] = (stops,) if isinstance(stops, str) else tuple(stops or ())
    sample = next((values[name] for name in SAMPLE if name in values), 0)
    prompt = next((values[name] for name in PROMPT if name in values), None)
    if prompt is not None or not {"task", *OF_RUN} & set(values):
        seed, sampled = values.get("seed"), Sampling(**sampling)
        asked = Request(
            item_id="q",
            sample=sample,
            prompt=prompted_of(prompt, values),
            sampling=replace(sampled, seed=seed),
        )
        return (identity.digest, values.get("task"), asked.key, rows)
    chosen = Options(**{OF_RUN[name]: value for name, value in values.items() if name in OF_RUN})
    pool = Source(local=("pool.jsonl",))
    version = values.get("version", values.get("task_version", 1))
    task = sums_task(
        str(values.get("task", "t")), version=int(version), shot_source=pool, sampling=Sampling(**sampling)
    )
    protocol = protocol_for(task, FakeModel(), chosen)
    shown = [Item(id=f"s{n}", fields={"a": n, "b": n + 50}, targets=(str(2 * n + 50),)) for n in range(40)]
    asked = [Item(id=f"q{n}", fields={"a": n, "b": 7}, targets=(str(n + 7),)) for n in range(5)]
    prompted = task.prompt(protocol.form)
    assert prompted is not None
    plans = [
        plan_item(protocol, item, ShotPool(prompted, drawn=tuple(shown)), lambda *_: True) for item in asked
    ]
    requests = tuple(request.key for plan in plans for sample in plan.samples for request in sample)
    return (identity.digest, protocol.digest, requests, rows)


@operation("cache_key_distinct")
def cache_key_distinct(given: Given) -> bool:
    return key_of(given["a"]) != key_of(given["b"])


@operation("cache_key_equal", "cache_key_same")
def cache_key_equal(given: Given) -> bool:
    return key_of(given["a"]) == key_of(given["b"])


# ── runs that are started again ─────────────────────────────────────────────────────────────────────


@dataclass
class Place:
    """A store and rows on a disk, and how often models were asked."""

    folder: Path
    asked: list[int] = field(default_factory=list)

    def run(
        self, count: int, task: Task | None = None, reply: Any = answer_sums, **options: Any
    ) -> EvaluatedRun:
        model = FakeModel(reply=reply)
        store = f"sqlite:///{self.folder}/store.db"
        rows = write_sums(self.folder / "rows", count)
        run = evaluate(task or sums_task(), model=model, store=store, data_directory=rows, **options)
        self.asked.append(len(model.asked))
        return run


@contextmanager
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        yield Place(Path(folder))


@operation("cache_repeats")
def cache_repeats(given: Given) -> list[str]:
    """The answers of a second run that asks for nothing."""
    outputs = given["outputs"]
    with place() as here:
        options = {"samples": given["k"], "temperature": given["temperature"]}
        for _ in range(2):
            run = here.run(1, reply=lambda request: outputs[request.sample], **options)
            texts = [str(sample.responses[0].text) for sample in run.each_sample() if sample.responses[0]]
            run.store.close()
        if here.asked[1]:
            return [f"{here.asked[1]} requests were asked again"]
        return texts


def resumed(ours: dict[str, int], expected: Any) -> bool:
    if isinstance(expected, Mapping):
        return agree(ours, expected)
    words = str(expected)
    none_asked = "no model" not in words or ours["remaining"] == 0
    return none_asked and ("scores are computed" not in words or ours["scored"] == ours["items"])


@operation("resume", agrees=resumed)
def resume(given: Given) -> dict[str, int]:
    """So many items are answered, then all that there are; `remaining` is what the second run asks for."""
    cached = given["cached"]
    every = cached + given.get("remaining", 0)
    first = {"workers": given["cached_with_workers"]} if "cached_with_workers" in given else {}
    second = {"workers": given["now_workers"]} if "now_workers" in given else {}
    with place() as here:
        here.run(cached, **first).store.close()
        run = here.run(every, **second)
        scored = int(run.statuses["sums"].get("scored", 0))
        run.store.close()
        return {"remaining": here.asked[1], "scored": scored, "items": every}


@operation("reuse")
def reuse(given: Given) -> Said:
    """Settings are compared resolved: as canonical values, in whatever order and type they were given."""
    same = digest(given["stored"]) == digest(given["requested"])
    return Said("reused" if same else "run again")


@dataclass(frozen=True)
class Edition(Verbatim):
    """A scorer that says which edition it is of."""

    edition: str = "1"


KEPT = {"ok": Status.SCORED, "scored": Status.SCORED, "success": Status.SCORED, "no_answer": Status.NO_ANSWER}
FAILED = {
    "infra_error": Status.INFRA_ERROR,
    "error": Status.INFRA_ERROR,
    "timeout": Status.TIMEOUT,
    "judge_error": Status.JUDGE_ERROR,
    "grader_error": Status.GRADER_ERROR,
}


def status_of(word: str) -> Status:
    if word in ("parse_failure", "parse_error", "unscored"):
        return judged_outcome("q", 0, Response(request="r"), None, {}).status
    status = KEPT.get(word) or FAILED.get(word)
    if status is None:
        raise NotMappedError(f"the status {word!r}")
    return status


@operation("reuse_score")
def reuse_score(given: Given) -> Any:
    if "stored" in given:
        return Said("judged again" if status_of(given["stored"]["status"]) in FAULTS else "reused")
    with place() as here:
        runs = [
            here.run(3, sums_task(scorer=Edition(edition=version)))
            for version in (given["stored_scorer"], given["current_scorer"])
        ]
        for run in runs:
            run.store.close()
        if here.asked[1]:
            return "outputs asked again"
        same = runs[0].id == runs[1].id
        return f"outputs reused, scores {'reused' if same else 'recomputed'}"


FINISHES = {
    "ok": Finish.STOP,
    "done": Finish.STOP,
    "interrupted": Finish.INFRA_ERROR,
    "cancelled": Finish.INFRA_ERROR,
}


@operation("regrade")
def regrade(given: Given) -> dict[str, int]:
    scorer = NumberMatch(FinalNumber())
    outcomes = []
    for state, text in given["samples"]:
        if state not in FINISHES:
            raise NotMappedError(f"the state {state!r}")
        response = Response(request="r", text=text, finish=FINISHES[state])
        outcomes.append(scorer.grade(Item(id="q", fields={}, targets=("4",)), 0, [response]))
    graded = sum(outcome.status is Status.SCORED for outcome in outcomes)
    skipped = sum(outcome.status is Status.INFRA_ERROR for outcome in outcomes)
    return {"graded": graded, "skipped": skipped}
