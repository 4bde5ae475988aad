"""Takes Python code out of an answer, and makes a whole program of it."""

from __future__ import annotations

import ast
import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from probatum.extraction.code_wrapping import plain_blanks, unwrapped
from probatum.extraction.evidence import Extraction, Found, Missing, answer_of
from probatum.extraction.fences import Block, find_blocks
from probatum.extraction.python_source import Source, parse
from probatum.extraction.reasoning import visible
from probatum.extraction.statements import find_regions
from probatum.extraction.stops import cut_at_stop

__all__ = [
    "assemble_answer",
    "assemble_completion",
    "assemble_method",
    "continues",
    "extract_code",
    "find_code",
]

_PYTHON = frozenset({"", "python", "python3", "py", "py3", "ipython", "pycon", "pyi", "code", "none"})
_ALIASES = {
    "js": "javascript", "node": "javascript", "jsx": "javascript", "mjs": "javascript", "ts": "typescript",
    "tsx": "typescript", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "cs": "csharp", "c#": "csharp",
    "fs": "fsharp", "f#": "fsharp", "sh": "bash", "shell": "bash", "zsh": "bash", "golang": "go",
    "rs": "rust", "rb": "ruby", "kt": "kotlin", "hs": "haskell", "pl": "perl", "jl": "julia", "ml": "ocaml",
    "ex": "elixir", "clj": "clojure", "lean4": "lean", "lean3": "lean", "sqlite": "sql", "mysql": "sql",
    "postgresql": "sql", "postgres": "sql",
}  # fmt: skip


def extract_code(text: str, entry_point: str | None = None, *, language: str = "python") -> Extraction | None:
    """The code that the answer gives, dedented; `None` where there is none.

    Of several fenced blocks the last one decides that parses and defines `entry_point`; what it needs
    from earlier blocks (imports, helper functions) is put before it. Code without fences is found
    among prose statement by statement. A fence may be unclosed, indented, longer than three signs, or
    have stood in the prompt. Code that does not parse is still what the model gave.

    Args:
        text: a model's answer.
        entry_point: name that the tests call.
        language: of the code; what is not Python is taken from fences, and not parsed.
    """
    return answer_of(find_code(text, entry_point, language=language))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Code that parses, and where it stands."""

    start: int
    end: int
    source: Source
    rule: str
    closed: bool
    """Whether something follows it that ends it."""

    def complete(self, entry_point: str | None) -> bool:
        """Whether the entry point's definition is over: text that was cut ends in its last statement."""
        last = self.source.tree.body[-1:]
        return self.closed or (
            entry_point is not None and all(getattr(node, "name", None) != entry_point for node in last)
        )


def find_code(text: str, entry_point: str | None = None, *, language: str = "python") -> Found:
    """The code, or why there is none; see `extract_code`."""
    found = _find(text.replace("\r\n", "\n"), entry_point, language)
    return _with_line_ends(text, found) if "\r\n" in text else found


def _find(text: str, entry_point: str | None, language: str) -> Found:
    """The stages one by one."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    shown, lost = unwrapped(seen.text.replace("\r", "\n") if "\r" in seen.text else seen.text)
    seen = replace(seen, text=shown, offset=seen.offset + lost)
    if not shown.strip():
        return Missing("the answer is empty")
    blocks = find_blocks(shown)
    if language != "python":
        return _other_language(shown, seen.offset, blocks, language)
    fenced = [block for block in blocks if _is_python(block)]
    found = _read_blocks(shown, blocks)
    decided = _choose(found, entry_point)
    if decided is None or (entry_point is not None and not decided.source.defines(entry_point)):
        rest = [
            each for block in blocks if not _is_python(block) for each in _read_rest(shown, block, blocks)
        ]
        better = _choose(rest, entry_point)
        if better is not None and (decided is None or _serves(better, entry_point)):
            decided, found = better, sorted([*found, *rest], key=lambda each: each.start)
    if decided is not None:
        code = _with_needed(decided, [each for each in found if each is not decided])
        span = (seen.offset + decided.start, seen.offset + decided.end)
        rule = decided.rule
        if entry_point is not None and not _serves(decided, entry_point):
            rule = rule.partition(":")[0] + ":no_entry_point"
        return Extraction(code, rule, span, decided.complete(entry_point))
    if fenced:  # broken code is an answer too, and a wrong one
        start, end = _without_blank_lines(shown, fenced[-1].start, fenced[-1].end)
        answer = textwrap.dedent(shown[start:end])
        span = (seen.offset + start, seen.offset + end)
        rule = "fence:does_not_parse" if parse(answer) is None else "fence:no_entry_point"
        return Extraction(answer, rule, span, fenced[-1].closed)
    return (
        _indented(shown, seen.offset, entry_point)
        or _inline(shown, seen.offset, entry_point)
        or Missing("no code")
    )


_TICKED = re.compile(r"(?<!`)(?P<ticks>`{1,3})(?:(?:python|py)[ ])?(?P<code>[^`\n]{1,2000})(?P=ticks)(?!`)")


def _inline(text: str, offset: int, entry_point: str | None) -> Extraction | None:
    """The entry point in one line of its own between back-ticks, in mid-sentence."""
    if entry_point is None:
        return None
    for match in reversed(list(_TICKED.finditer(text))):
        source = parse(match["code"].strip())
        if source is not None and source.defines(entry_point):
            start, end = match.span("code")
            return Extraction(source.text, "bare:inline", (offset + start, offset + end))
    return None


_MARGIN = re.compile(r"(?:^|(?<=\n))(?:(?:[ ]{4}|\t)[^\n]*(?:\n|$)|[ \t]*\n)+")


def _indented(text: str, offset: int, entry_point: str | None) -> Extraction | None:
    """Code that Markdown marks by four blanks alone: the last such block that parses and serves."""
    found = []
    for block in _MARGIN.finditer(text):
        start, end = _without_blank_lines(text, *block.span())
        source = _parse_dedented(text[start:end]) if text[start:end].strip() else None
        if source is not None and source.substantial and (entry_point is None or source.defines(entry_point)):
            found.append(_Candidate(start, end, source, "bare:indented", end < len(text)))
    if not found:
        return None
    last = found[-1]
    code = last.source.text.strip("\n").rstrip()
    return Extraction(code, last.rule, (offset + last.start, offset + last.end), last.complete(entry_point))


def _with_line_ends(text: str, found: Found) -> Found:
    """What was found in a text without its carriage returns, at its place in the text."""
    if not isinstance(found, Extraction):
        return found
    start, end = found.span
    ends = [match.start() - place for place, match in enumerate(re.finditer("\r\n", text))]
    return replace(found, span=(start + bisect_left(ends, start), end + bisect_left(ends, end)))


def _is_python(block: Block) -> bool:
    return block.fenced and block.language in _PYTHON


def _serves(candidate: _Candidate, entry_point: str | None) -> bool:
    """Whether it defines the entry point, or is the body of it."""
    source = candidate.source
    return entry_point is None or source.defines(entry_point) or source.returns


def _choose(found: Sequence[_Candidate], entry_point: str | None) -> _Candidate | None:
    """The last that defines the entry point; else the last body of one; else the last code at all."""
    if not found:
        return None
    if entry_point is None:
        real = [each for each in found if each.source.substantial] or found
        real = [each for each in real if not each.source.only_tests] or real
        regions = [each for each in real if each.rule == "bare:region"]
        return max(regions, key=lambda each: each.end - each.start) if len(regions) == len(real) else real[-1]
    for each in reversed(found):
        if each.source.writes(entry_point):
            return each
    for each in reversed(found):
        if each.source.defines(entry_point):
            return each
    for each in reversed(found):
        if each.source.returns:
            return each
    substantial = [each for each in found if each.source.substantial]
    return substantial[-1] if substantial else None


_ENDS_TRIED = 4
"""Later fences that may end a block whose first end left a string open."""


def _read_blocks(text: str, blocks: Sequence[Block]) -> list[_Candidate]:
    """Fenced Python blocks; one that ends within a long string goes on behind the fence in it."""
    found: list[_Candidate] = []
    at = 0
    for place, block in enumerate(blocks):
        if not _is_python(block) or block.start < at:
            continue
        read = list(_read_block(text, block))
        code = text[block.start : block.end]
        if read[:1] != [] and read[0].rule != "fence:part":
            found += read
            continue
        if code.count('"""') % 2 or code.count("'''") % 2:
            for later in blocks[place + 1 : place + 1 + _ENDS_TRIED]:
                whole = Block(block.start, later.end, block.language, fenced=True, closed=later.closed)
                longer = list(_read_block(text, whole))
                if longer and longer[0].rule != "fence:part":
                    read, at = longer, later.end
                    break
        found += read
    return found


def _read_block(text: str, block: Block) -> Iterable[_Candidate]:
    """A fenced block as code; its statements one by one where the whole does not parse."""
    start, end = _without_blank_lines(text, block.start, block.end)
    source = _parse_dedented(text[start:end])
    if source is not None:
        rule = "fence:block" if block.closed else "fence:unclosed"
        return [_Candidate(start, end, source, rule, block.closed)]
    return _regions(text, block.start, block.end, "fence:part", closed=block.closed)


def _read_rest(text: str, block: Block, blocks: Sequence[Block]) -> Iterable[_Candidate]:
    """What stands outside of fences, or under another language's name."""
    start, end = _without_blank_lines(text, block.start, block.end)
    before_fence = block is blocks[0] and len(blocks) > 1
    if len(blocks) == 1 or before_fence or block.fenced:
        source = _parse_dedented(text[start:end])
        if source is not None and (source.substantial or source.returns):
            rule = "bare:before_fence" if before_fence else "bare:whole"
            return [_Candidate(start, end, source, rule, block.closed)]
    return _regions(text, block.start, block.end, "bare:region", closed=block.closed)


def _regions(text: str, start: int, end: int, rule: str, *, closed: bool) -> list[_Candidate]:
    found = []
    for region in find_regions(text[start:end]):
        begin, stop = _without_blank_lines(text, start + region.start, start + region.end)
        more = bool(text[stop:end].strip())
        found.append(_Candidate(begin, stop, region.source, rule, closed or more))
    return found


_QUOTED = re.compile(r"(?:[ \t]{0,8}>[^\n]*(?:\n|\Z)|[ \t]*\n)+")
_SESSION = re.compile(r"^[ \t]*>>> ?(?:async |def |class |@|import |from )", re.MULTILINE)
"""A definition typed into an interpreter."""
_QUOTE = re.compile(r"^[ \t]{0,8}>[ ]?", re.MULTILINE)
"""Signs of a quotation in Markdown."""


def _parse_dedented(code: str) -> Source | None:
    """The code at the left margin; also where only its first line lost its indentation."""
    source = parse(textwrap.dedent(code))
    if source is None and _SESSION.search(code):
        shown = textwrap.dedent(code).split("\n")
        source = parse("\n".join(line[4:] for line in shown if line[:4].rstrip() in (">>>", "...")))
    if source is None and _QUOTED.fullmatch(code):
        source = parse(textwrap.dedent(_QUOTE.sub("", code)))
    if source is None and (plain := plain_blanks(code)) != code:
        return _parse_dedented(plain)
    first, _, rest = code.partition("\n")
    if source is not None or not rest.strip() or first[:1].isspace():
        return source
    indent = min(re.findall(r"^[ \t]*(?=\S)", rest, re.MULTILINE), key=len, default="")
    for missing in (indent, indent[4:]):
        if missing and source is None:
            source = parse(textwrap.dedent(missing + code))
    return source


def _without_blank_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Blank lines and trailing blanks off both ends; the first line keeps its indentation."""
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    begin = start + left
    line = text.rfind("\n", start, begin) + 1
    begin = line if line > start or start == 0 or text[start - 1 : start] == "\n" else begin
    return max(begin, start) if line else start, start + len(body.rstrip())


def _with_needed(decided: _Candidate, others: Sequence[_Candidate]) -> str:
    """The code with what it needs from other parts of the answer, imports and definitions, before it."""
    added = _needed_from(decided.source, [each.source for each in others])
    code = decided.source.text.strip("\n").rstrip()
    if not added:
        return code
    future, rest = _without_future(decided.source)
    return "\n\n".join(part for part in (future, added, rest.strip("\n").rstrip()) if part)


_GIVES = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign
)  # fmt: skip


def _needed_from(source: Source, others: Sequence[Source]) -> str:
    """Statements of `others` that bind names which `source` reads and does not bind, in order."""
    if not source.needed or not others:
        return ""
    by_name: dict[str, tuple[int, int]] = {}
    for place, other in enumerate(others):
        for number, node in enumerate(other.tree.body):
            if isinstance(node, _GIVES):
                by_name |= dict.fromkeys(other.names(number), (place, number))  # the last one stands
    picked: set[tuple[int, int]] = set()
    wanted = list(source.needed)
    while wanted:
        at = by_name.get(wanted.pop())
        if at is None or at in picked:
            continue
        picked.add(at)
        statement = parse(others[at[0]].statement(at[1]))
        wanted += statement.needed if statement is not None else ()
    return "\n".join(others[place].statement(number) for place, number in sorted(picked))


def _other_language(text: str, offset: int, blocks: Sequence[Block], language: str) -> Found:
    """The last fenced block under the language's name, else under none."""
    wanted = _ALIASES.get(language.lower(), language.lower())
    fenced = [block for block in blocks if block.fenced]
    named = [each for each in fenced if _ALIASES.get(each.language, each.language) == wanted]
    chosen = named or [each for each in fenced if not each.language]
    if chosen:
        start, end = _without_blank_lines(text, chosen[-1].start, chosen[-1].end)
        rule = "fence:block" if chosen[-1].closed else "fence:unclosed"
        answer = textwrap.dedent(text[start:end])
        return Extraction(answer, rule, (offset + start, offset + end), chosen[-1].closed)
    return Missing(f"no fenced code in {language}")


def assemble_completion(prompt: str, completion: str, stop: Sequence[str] = ()) -> str:
    """Prompt and continuation as they stand; only stop strings cut, and only the continuation.

    Raises:
        ProtocolError: a stop string is empty.
    """
    return prompt + cut_at_stop(completion, tuple(stop)).text


def assemble_answer(prompt: str, code: str, entry_point: str | None = None) -> str:
    """A program of a prompt and the code that answers it.

    Code that defines the entry point gets the prompt's imports and helper functions before it. Code
    that is the body of it is indented and put behind the prompt. Anything else stays as it is.

    Args:
        prompt: source that the model was shown, up to the function to write; or words, which give
            nothing to the program.
        code: what `extract_code` found.
        entry_point: name of the function; without it the last one of the prompt.
    """
    entry_point = entry_point or _last_function(prompt)
    source = parse(code)
    if entry_point is not None and (source is None or not source.defines(entry_point)):
        for program in (_as_body(prompt, code), *(_continued(prompt, code) if source is None else ())):
            whole = parse(program)
            if whole is not None and entry_point in whole.defined and (source is None or source.returns):
                return program
    head = _head(prompt, entry_point)
    given = parse(head) if head.strip() else None
    if given is None or (source is not None and given.defined <= source.defined and "*" not in given.text):
        return code
    if source is None:
        return f"{head.rstrip()}\n\n{code}"
    future, rest = _without_future(source)
    return "\n\n".join(part for part in (future, head.rstrip(), rest) if part)


def assemble_method(code: str, entry_point: str) -> str:
    """The program with a function that calls a method of that name, each time on a fresh instance.

    For benchmarks whose answers are classes (`class Solution:` …) and whose tests call functions. The
    last class that has the method is meant. A program that binds the name itself, has no such method
    or does not parse stays as it is.

    Args:
        code: a whole program.
        entry_point: name of the method, and of the function that the tests call.
    """
    source = parse(code)
    owner = None if source is None or entry_point in source.defined else source.owners.get(entry_point)
    if owner is None:
        return code
    call = f"{owner}().{entry_point}(*arguments, **named)"
    return f"{code.rstrip()}\n\n\ndef {entry_point}(*arguments, **named):\n    return {call}\n"


def _last_function(prompt: str) -> str | None:
    names = re.findall(r"^(?:async )?def (\w+)", prompt, re.MULTILINE)
    return names[-1] if names else None


def _head(prompt: str, entry_point: str | None) -> str:
    """What the prompt has before the entry point: imports, constants, helper functions."""
    if entry_point is None:
        return prompt if parse(prompt) is not None else ""
    starts = list(
        re.finditer(rf"^(?:@.*\n)*(?:async )?(?:def|class) {re.escape(entry_point)}\b", prompt, re.MULTILINE)
    )
    return prompt[: starts[-1].start()] if starts else ""


def _as_body(prompt: str, code: str) -> str:
    """The code behind the prompt, indented as its last line is, or by four blanks."""
    lines = [line for line in prompt.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    indent = last[: len(last) - len(last.lstrip())] or "    "
    body = textwrap.indent(textwrap.dedent(code).strip("\n"), indent)
    return f"{prompt.rstrip()}\n{body}\n"


def _continued(prompt: str, code: str) -> tuple[str, ...]:
    """The code as it stands behind the prompt, also where its first line lost its indentation."""
    head, code = prompt.rstrip(), code.strip("\n").rstrip()
    indent = min(re.findall(r"^[ \t]+(?=\S)", code, re.MULTILINE), key=len, default="    ")
    return f"{head}\n{code}\n", f"{head}\n{indent}{code.lstrip()}\n"


def continues(prompt: str, text: str, entry_point: str | None = None) -> str | None:
    """The program of a prompt and a text that goes on where the prompt ends, as base models do.

    `None` where the text is anything else: it begins at the margin, or the two are no program that
    defines the entry point. What a model adds behind the function (helpers, examples) stays.
    """
    shown = plain_blanks(unwrapped(text)[0])
    first = shown.lstrip("\n")[:1]
    entry_point = entry_point or _last_function(prompt)
    if entry_point is None or not first.isspace() or "```" in shown:
        return None
    program, _ = _continued(prompt, shown)
    whole = parse(program)
    return program if whole is not None and whole.writes(entry_point) else None


def _without_future(source: Source) -> tuple[str, str]:
    """`from __future__` lines, which must come first, and the rest."""
    lines = source.text.split("\n")
    future = [
        (node.lineno - 1, node.end_lineno or node.lineno)
        for node in source.tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    if not future:
        return "", source.text
    moved = {line for start, end in future for line in range(start, end)}
    return (
        "\n".join(lines[line] for line in sorted(moved)),
        "\n".join(line for number, line in enumerate(lines) if number not in moved),
    )
