"""How long the report of a large run takes, and how large it is.

    python benchmarks/report_speed.py                 # 14,042 items, as many as MMLU's test set has
    python benchmarks/report_speed.py --items 2000 --runs 2

A task of made-up questions with four options, in 57 strata, is answered by the random model into a new store;
one in 40 answers is a long one of 20,000 characters. Then the report is made as `probatum report` makes it,
in a process of its own. The last line is JSON: seconds_html, cpu_seconds_html, bytes_html, peak_rss_mb, and
the same of two runs that are compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from probatum.core.protocol import Source, Task
from probatum.core.records import Identity, Item, Prompted, Request, Response
from probatum.extraction import OptionLetter
from probatum.models import Capabilities
from probatum.models.random_choice import RandomModel
from probatum.prompting import ChatPrompt
from probatum.runner import evaluate
from probatum.scoring import ChoiceMatch, Rate

STRATA = 57


@dataclass(frozen=True)
class Row:
    """A made-up question."""

    id: str
    question: str
    options: list[str]
    target: str
    subject: str


def to_item(row: Row) -> Item:
    return Item(
        id=row.id,
        fields={"question": row.question, "options": row.options},
        choices=tuple(row.options),
        targets=(row.target,),
        stratum=row.subject,
    )


def gold(item: Item) -> str:
    return f"Answer: {item.targets[0]}"


def wrong(item: Item) -> str:
    return f"Answer: {'B' if item.targets[0] == 'A' else 'A'}"


TASK = Task(
    name="made_up",
    version=1,
    summary="made-up questions",
    citation="none",
    source=Source(local=("rows.jsonl",)),
    row=Row,
    to_item=to_item,
    chat=ChatPrompt(
        template="{{ question }}"
        "{% for option in options %}\n{{ 'ABCD'[loop.index0] }}. {{ option }}{% endfor %}",
        shot_answer="{{ target }}",
    ),
    scorer=ChoiceMatch(OptionLetter()),
    metrics=(Rate(),),
    gold=gold,
    wrong=wrong,
    chance=0.25,
)


@dataclass(frozen=True)
class Wordy:
    """The random model, with something before its answer, and sometimes much."""

    guesses: RandomModel

    @property
    def identity(self) -> Identity:
        """A provider of its own."""
        return replace(self.guesses.identity, provider="wordy")

    @property
    def capabilities(self) -> Capabilities:
        """Those of the guesses."""
        return self.guesses.capabilities

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Guesses, with words before them."""
        for number, response in enumerate(self.guesses.answer(requests)):
            words = "I think about <b>this</b> & that. " * (600 if number % 40 == 0 else number % 12)
            yield replace(response, text=words + response.text)

    def count_tokens(self, prompt: Prompted) -> None:
        """It has no tokens."""
        del prompt

    def close(self) -> None:
        """Nothing to give back."""


def write_rows(path: Path, items: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(items):
            row = {
                "id": f"q{number:05}",
                "question": f"Question {number}: which of these is number {number % 4}? " * 6,
                "options": [f"the option {place} of {number}" for place in range(4)],
                "target": "ABCD"[number % 4],
                "subject": f"subject {number % STRATA:02}",
            }
            file.write(json.dumps(row) + "\n")


def made(directory: Path, items: int, runs: int) -> None:
    """Writes runs into a store, if they are not there yet."""
    write_rows(directory / "rows.jsonl", items)
    for seed in range(runs):
        model = Wordy(RandomModel(seed))
        evaluate(
            TASK, model=model, store=f"sqlite:///{directory}/s.db", data_directory=directory
        ).store.close()


def reported(directory: Path, models: list[str], ending: str) -> dict[str, float]:
    """One report by the command: seconds with everything, bytes of the file."""
    output = directory / f"report.{ending}"
    command = [
        sys.executable,
        "-m",
        "probatum",
        "report",
        *models,
        "--store",
        f"{directory}/s.db",
        "-o",
        str(output),
    ]
    began, used = time.perf_counter(), _cpu_seconds()
    subprocess.run(command, check=True)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": _cpu_seconds() - used,
        "bytes": output.stat().st_size,
    }


def _told(found: dict[str, float]) -> str:
    return f"{found['seconds']:.2f} s ({found['cpu_seconds']:.2f} s CPU), {found['bytes'] / 1e6:.2f} MB"


def _cpu_seconds() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=14_042)
    parser.add_argument("--runs", type=int, choices=(1, 2), default=2)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        began = time.perf_counter()
        made(directory, chosen.items, chosen.runs)
        print(f"{chosen.runs} runs of {chosen.items} items in {time.perf_counter() - began:.1f} s")
        figures: dict[str, float] = {"items": chosen.items}
        for ending in ("html", "md", "json"):
            found = reported(directory, ["wordy/0"], ending)
            print(f"{ending}: {_told(found)}")
            figures |= {f"{name}_{ending}": value for name, value in found.items()}
        if chosen.runs > 1:
            found = reported(directory, ["wordy/0", "wordy/1"], "html")
            print(f"two runs: {_told(found)}")
            figures |= {f"{name}_html_compared": value for name, value in found.items()}
        figures["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps(figures, allow_nan=False))


if __name__ == "__main__":
    main()
