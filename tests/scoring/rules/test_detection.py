"""Languages: the same text has the same answer, and each language is known by its own sentence."""

from __future__ import annotations

import pytest

from probatum.benchmarks._ifeval import Row, to_item
from probatum.benchmarks._ifeval_gold import SENTENCES
from probatum.core.errors import UsageError
from probatum.scoring.rules import Instruction, backends, check_instructions
from probatum.scoring.rules.detection import DETECTABLE, is_in

pytest.importorskip("langdetect", reason="needs the extra [ifeval]")

SHOUTED = "EVERY WORD THAT STANDS HERE IS WRITTEN IN CAPITALS!!! FINE."


def test_a_text_has_the_same_language_a_hundred_times() -> None:
    found = {backends.detect_language(SHOUTED) for _ in range(100)}
    assert len(found) == 1
    assert {is_in(SHOUTED, "en").followed for _ in range(100)} == {True}


def test_other_seeds_may_find_other_languages_which_is_why_there_is_a_seed() -> None:
    found = {backends.detect_language("mi casa es grande e bella", seed) for seed in range(40)}
    assert len(found) > 1


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_each_language_is_known_and_no_other_is_taken_for_it(language: str) -> None:
    text = f"{SENTENCES[language]}. " * 3
    assert is_in(text, language).followed
    others = [other for other in sorted(SENTENCES) if other != language and is_in(text, other).followed]
    assert others == []


def test_a_text_half_in_another_script_is_not_in_the_language() -> None:
    half = f"{SENTENCES['hi']} {SENTENCES['en']}"
    assert not is_in(half, "hi").followed
    assert not is_in(half, "en").followed


def test_chinese_is_found_under_its_plain_code_and_its_written_forms() -> None:
    text = f"{SENTENCES['zh']}。" * 3
    assert all(is_in(text, code).followed for code in ("zh", "zh-cn", "ZH"))


@pytest.mark.parametrize("text", ["", "123 !?", "🌍"])
def test_a_text_without_letters_is_in_no_language(text: str) -> None:
    assert not is_in(text, "en").followed
    assert not is_in(text, "en", unless_short=True).followed


def test_the_codes_that_are_told_apart_are_those_of_the_detector() -> None:
    known = {code.partition("-")[0] for code in backends._detector_factory().langlist}
    assert known == DETECTABLE


def test_a_missing_package_is_told_in_one_line_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(backends, "import_module", missing)
    backends._detector_factory.cache_clear()
    with pytest.raises(UsageError, match=r"'langdetect'.*install probatum\[ifeval\]"):
        check_instructions(
            "x", [Instruction("language:response_language", {"language": "en"})], edition="official"
        )


def test_without_its_packages_no_item_loads_so_that_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(backends, "import_module", missing)
    backends.require_backends.cache_clear()
    row = Row(key=1, prompt="Write.", instruction_id_list=("punctuation:no_comma",), kwargs=({},))
    with pytest.raises(UsageError, match="install probatum"):
        to_item(row)
