"""The backend on tiny models whose every next token is known."""

from __future__ import annotations

import gc
import hashlib
import math
import signal
import subprocess
import sys
import threading
from collections import Counter

import pytest

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Finish, Message, Request, Sampling
from probatum.models import load_model
from probatum.models.threads import available_cores
from tests.models.llamacpp.tiny import BOS, EOS, TURN, chain_model, letter, piece

pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
pytestmark = pytest.mark.local_model

LOOP = {letter(one): {letter(after): 20.0} for one, after in zip("abc", "bca", strict=True)}  # abcabcabc…


def request(prompt, item="1", sample=0, **sampling):
    return Request(item_id=item, sample=sample, prompt=prompt, sampling=Sampling(**sampling))


def one(model, *args, **kwargs):
    (response,) = model.answer([request(*args, **kwargs)])
    return response


@pytest.fixture
def loop(tmp_path):
    model = load_model(f"llamacpp/{chain_model(tmp_path / 'loop.gguf', LOOP)}", {"threads": "1"})
    yield model
    model.close()


# ── what comes back ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sampling", "text", "finish", "stop", "tokens"),
    [
        ({"max_tokens": 7}, "bcabcab", Finish.LENGTH, None, 7),
        ({"max_tokens": 1}, "b", Finish.LENGTH, None, 1),
        ({"max_tokens": 0}, "", Finish.LENGTH, None, 0),
        ({"max_tokens": 99, "stop": ("abca",)}, "bc", Finish.STOP, "abca", 6),
        ({"max_tokens": 99, "stop": ("x", "c", "b")}, "", Finish.STOP, "b", 1),
        ({"max_tokens": 2, "stop": ("bc",)}, "", Finish.STOP, "bc", 2),
        ({"max_tokens": 3, "stop": ("abca",)}, "bca", Finish.LENGTH, None, 3),
        ({"max_tokens": 4, "temperature": 0.7, "top_k": 1, "seed": 1}, "bcab", Finish.LENGTH, None, 4),
    ],
)
def test_text_finish_stop_and_counts(loop, sampling, text, finish, stop, tokens):
    response = one(loop, "a", **sampling)
    assert (response.text, response.finish, response.stop) == (text, finish, stop)
    assert (response.prompt_tokens, response.completion_tokens) == (2, tokens)
    assert response.reason is None
    assert response.request == request("a", **sampling).key


def test_the_end_of_text_ends_and_is_no_text(load):
    response = one(load("spell"), "h")
    assert (response.text, response.finish, response.stop) == ("elo wrd\n", Finish.STOP, None)
    assert response.completion_tokens == 9  # the end-of-text token was generated too


def test_the_first_token_may_be_the_end(tmp_path):
    model = load_model(f"llamacpp/{chain_model(tmp_path / 'm.gguf', {letter('a'): {EOS: 9.0}})}")
    response = one(model, "a")
    assert (response.text, response.finish, response.completion_tokens) == ("", Finish.STOP, 1)
    model.close()


def test_control_tokens_and_spaces_are_written_as_they_are(tmp_path):
    chain = {letter("a"): {piece("▁the"): 9.0}, piece("▁the"): {TURN: 9.0}, TURN: {letter("x"): 9.0}}
    model = load_model(f"llamacpp/{chain_model(tmp_path / 'm.gguf', chain | {letter('x'): {EOS: 9.0}})}")
    assert one(model, "a").text == " thex"
    model.close()


def test_a_character_of_several_tokens_is_whole_or_left_out(tmp_path):
    first, second, third = (4 + value for value in "你".encode())
    chain = {letter("a"): {first: 9.0}, first: {second: 9.0}, second: {third: 9.0}, third: {EOS: 9.0}}
    model = load_model(f"llamacpp/{chain_model(tmp_path / 'm.gguf', chain)}")
    assert [one(model, "a", max_tokens=count).text for count in (1, 2, 3, 4)] == ["", "", "你", "你"]
    model.close()


def test_bytes_that_are_no_text_are_replaced_and_remarked(tmp_path):
    chain = {letter("a"): {4 + 0xFF: 9.0}, 4 + 0xFF: {letter("b"): 9.0}, letter("b"): {EOS: 9.0}}
    model = load_model(f"llamacpp/{chain_model(tmp_path / 'm.gguf', chain)}")
    response = one(model, "a")
    assert response.text == "\ufffdb"
    assert response.finish is Finish.STOP
    assert "no UTF-8" in str(response.reason)
    model.close()


def test_sampled_frequencies_are_those_of_the_weights(load):
    model = load("dice", slots=8)
    draws = 600
    requests = [
        request("a", sample=number, temperature=2.0, max_tokens=1, seed=number) for number in range(draws)
    ]
    counts = Counter(response.text for response in model.answer(requests))
    # Logits 0, 2, 4 of b, c, d and 0 of every other token, at temperature 2.
    others = len(counts - Counter("bcd"))
    assert others > 50
    total = 320 - 2 + math.e + math.e**2
    for face, weight in (("c", math.e), ("d", math.e**2)):
        share = weight / total
        assert abs(counts[face] - draws * share) < 5 * math.sqrt(draws * share)


# ── the context ─────────────────────────────────────────────────────────────────────────────────────


def test_a_prompt_that_does_not_fit_is_not_asked(loop):
    context = loop.capabilities.context_tokens
    assert context == 512
    fits, too_long = "x" * (context - 2), "x" * (context - 1)
    assert loop.count_tokens(fits) == context - 1
    responses = {
        response.prompt_tokens: response for response in loop.answer([request(fits), request(too_long)])
    }
    assert responses[context - 1].finish is Finish.LENGTH
    overflow = responses[context]
    assert (overflow.finish, overflow.text, overflow.answered) == (Finish.CONTEXT_OVERFLOW, "", False)
    assert "512 tokens leaves no room in the context of 512" in str(overflow.reason)


def test_an_answer_that_fills_the_context_ends_there_and_says_so(loop):
    response = one(loop, "x" * 500 + "a", max_tokens=100)
    # 502 tokens of prompt; the 11th token of the answer would have been placed behind the last cell.
    assert (response.finish, response.completion_tokens) == (Finish.LENGTH, 11)
    assert response.text == "bcabcabcabc"
    assert "context of 512 tokens is used up" in str(response.reason)


def test_the_context_can_be_set_up_to_what_the_model_was_trained_for(load):
    assert load("random", context_tokens=100).capabilities.context_tokens == 100
    assert one(load("random", context_tokens=100), "x" * 120).finish is Finish.CONTEXT_OVERFLOW
    with pytest.raises(ModelError, match="context_tokens=600 is more than the 512"):
        load("random", context_tokens=600)


# ── prompts ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("", [BOS]),
        ("a", [BOS, piece("a")]),
        ("<s>a", [BOS, piece("a")]),
        ("a</s>", [BOS, piece("a"), EOS]),
        ("<s><s>", [BOS, BOS]),
        ("\0", [BOS, 4]),
        ("é", [BOS, 4 + 0xC3, 4 + 0xA9]),
    ],
)
def test_every_prompt_begins_with_the_begin_token_once(load, prompt, expected):
    model = load("random")
    assert model._tokens(prompt) == expected
    assert model.count_tokens(prompt) == len(expected)


def test_special_tokens_in_a_prompt_can_be_read_as_letters(load):
    model = load("random", special_tokens="false")
    assert len(model._tokens("</s>")) == 5
    assert model.identity.digest != load("random").identity.digest


def test_a_prompt_that_is_no_text_is_an_error_of_its_own(loop):
    broken, fine = loop.answer([request("a\ud800b"), request("a", max_tokens=2)])
    assert broken.finish is Finish.MODEL_ERROR
    assert "half of a surrogate pair at character 1" in str(broken.reason)
    assert fine.text == "bc"
    assert loop.count_tokens("\ud800") is None


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        ({"max_tokens": -1}, "max_tokens=-1"),
        ({"temperature": -0.5}, "temperature=-0.5"),
        ({"top_p": 0.0}, "top_p=0.0"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"top_k": -1}, "top_k=-1"),
        ({"stop": ("a", "")}, "stop string is empty"),
    ],
)
def test_sampling_that_means_nothing_is_an_error_of_its_request(loop, sampling, words):
    response = one(loop, "a", **sampling)
    assert response.finish is Finish.MODEL_ERROR
    assert words in str(response.reason)


TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}"
    "{% endif %}{{ m.content }}<turn>{% endfor %}"
)


def test_an_instruct_model_answers_messages(tmp_path):
    path = chain_model(
        tmp_path / "m.gguf", {TURN: {letter("b"): 9.0}, letter("b"): {EOS: 9.0}}, template=TEMPLATE
    )
    model = load_model(f"llamacpp/{path}")
    assert model.capabilities.chat
    assert model.identity.template == hashlib.sha256(TEMPLATE.encode()).hexdigest()
    messages = (Message("user", "hi"), Message("assistant", "x"), Message("user", "y"))
    assert model._tokens(messages) == [BOS, piece("h"), piece("i"), TURN, piece("x"), TURN, piece("y"), TURN]
    assert one(model, messages).text == "b"
    refused = one(model, (Message("system", "s"),))
    assert refused.finish is Finish.MODEL_ERROR
    assert "no system" in str(refused.reason)
    assert model.count_tokens((Message("system", "s"),)) is None
    model.close()


def test_a_base_model_refuses_messages_and_says_what_to_do(loop):
    assert not loop.capabilities.chat
    with pytest.raises(ModelError, match=r"base model: it has no chat template .* --form completion"):
        one(loop, (Message("user", "hi"),))
    with pytest.raises(ModelError, match="base model"):
        loop.count_tokens((Message("user", "hi"),))


# ── what it says of itself ──────────────────────────────────────────────────────────────────────────


def test_the_identity_is_the_file_and_what_changes_answers(files, load):
    identity = load("random").identity
    assert identity.provider == "llamacpp"
    assert identity.name == "random.gguf"
    assert identity.weights == hashlib.sha256((files / "random.gguf").read_bytes()).hexdigest()
    assert identity.template is None
    assert identity.precision == "F32"
    assert str(identity.backend).startswith("xllamacpp 20")
    assert load("random", slots=3, threads=2, verbose=False).identity == identity
    assert load("spell").identity.digest != identity.digest
    for changed in ({"slots": 1}, {"context_tokens": 256}, {"batch_tokens": 32}, {"today": "2025-01-31"}):
        assert load("random", **changed).identity.digest != identity.digest


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"slot": "4"}, "has no setting 'slot'; did you mean 'slots'"),
        ({"slots": "0"}, "slots='0' .* int >= 1"),
        ({"threads": "x"}, "threads='x'"),
        ({"today": "31.1.2025"}, "today='31.1.2025'"),
    ],
)
def test_a_wrong_setting_is_told_before_anything_is_loaded(settings, words):
    with pytest.raises(UsageError, match=words):
        load_model("llamacpp/none.gguf", settings)


def test_threads_are_no_more_than_this_process_may_use():
    assert 1 <= available_cores() <= 4096


# ── requests come and go ────────────────────────────────────────────────────────────────────────────


def test_every_request_is_answered_once_whatever_their_number(load):
    model = load("random", slots=3)
    for count in (0, 1, 2, 3, 4, 17):
        requests = [request(f"p{number}", item=str(number), max_tokens=number % 5) for number in range(count)]
        responses = list(model.answer(iter(requests)))
        assert Counter(response.request for response in responses) == Counter(one.key for one in requests)


def test_equal_requests_are_each_answered(loop):
    responses = list(loop.answer([request("a", max_tokens=3)] * 5))
    assert [response.text for response in responses] == ["bca"] * 5


def test_requests_are_pulled_only_as_there_is_room(load):
    model = load("random", slots=2)
    pulled, answered = 0, 0
    most = 0

    def requests():
        nonlocal pulled, most
        for number in range(60):
            pulled += 1
            most = max(most, pulled - answered)
            yield request(f"p{number}", max_tokens=3)

    for _ in model.answer(requests()):
        answered += 1
    assert answered == 60
    assert most <= 2 + 4 + 2  # slots, held ready, and one on its way at either end


def test_an_iterable_that_waits_for_answers_does_not_hang(load):
    model = load("random", slots=8)
    arrived = threading.Semaphore(2)

    def requests():
        for number in range(10):
            assert arrived.acquire(timeout=60)  # never more than two outstanding
            yield request(f"p{number}", max_tokens=4)

    count = 0
    for _ in model.answer(requests()):
        count += 1
        arrived.release()
    assert count == 10


def test_what_the_iterable_raises_is_raised_after_what_is_in_flight(load):
    model = load("random", slots=4)

    def requests():
        yield request("a", max_tokens=30)
        yield request("b", max_tokens=30)
        raise ValueError("broken plan")

    answers = model.answer(requests())
    assert len([next(answers), next(answers)]) == 2
    with pytest.raises(ValueError, match="broken plan"):
        next(answers)
    assert one(model, "a", max_tokens=2).finish is Finish.LENGTH


def running_feeders():
    return [thread for thread in threading.enumerate() if thread.name == "llamacpp requests"]


@pytest.mark.parametrize("way", ["close", "drop", "throw"])
def test_an_iterator_that_is_left_early_leaves_nothing_behind(load, way):
    model = load("random", slots=4)
    expected = [response.text for response in model.answer([request("p5", max_tokens=6)])]
    answers = model.answer(request(f"p{number}", max_tokens=50) for number in range(1000))
    next(answers)
    if way == "close":
        answers.close()
    elif way == "drop":
        del answers
        gc.collect()
    else:
        with pytest.raises(KeyboardInterrupt):
            answers.throw(KeyboardInterrupt())
    assert running_feeders() == []
    assert [response.text for response in model.answer([request("p5", max_tokens=6)])] == expected


def test_an_iterator_that_was_never_started_does_not_block_the_model(load):
    model = load("random")
    model.answer([request("a")])
    assert one(model, "a", max_tokens=1).completion_tokens == 1


def test_two_calls_at_once_are_refused(load):
    model = load("random")
    first = model.answer(request(f"p{number}", max_tokens=9) for number in range(20))
    next(first)
    with pytest.raises(ModelError, match="is answering another call"):
        next(model.answer([request("a")]))
    assert len(list(first)) == 19


def test_tokens_are_counted_from_any_thread_while_it_answers(load):
    model = load("random", slots=2)

    def requests():
        for number in range(8):
            assert model.count_tokens("abc") == 4
            yield request(f"p{number}", max_tokens=5)

    assert len(list(model.answer(requests()))) == 8


def test_several_models_answer_in_turns(load):
    spell, dice = load("spell"), load("dice")
    first = spell.answer(request("h", sample=number) for number in range(20))
    second = dice.answer(request("a", sample=number, max_tokens=1) for number in range(20))
    pairs = list(zip(first, second, strict=True))
    assert {(one.text, other.text) for one, other in pairs} == {("elo wrd\n", "d")}


def test_a_closed_model_says_so(load):
    model = load("random")
    answers = model.answer(request(f"p{number}", max_tokens=50) for number in range(20))
    next(answers)
    model.close()
    model.close()
    for use in (lambda: next(answers), lambda: one(model, "a"), lambda: model.count_tokens("a")):
        with pytest.raises(ModelError, match="is closed"):
            use()
    assert running_feeders() == []


def test_a_process_that_does_not_close_ends_quietly(files):
    code = (
        "import sys\nfrom probatum.models import load_model\nfrom probatum.core.records import Request\n"
        "model = load_model('llamacpp/' + sys.argv[1], {'threads': '1'})\n"
        "answers = model.answer(Request(item_id=str(n), prompt=f'p{n}') for n in range(99))\n"
        "print(next(answers).finish)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(files / "random.gguf")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert ended.stderr == ""
    assert ended.stdout in {"stop\n", "length\n"}


def test_control_c_ends_it_between_two_steps(files):
    code = (
        "import itertools, sys, threading\nfrom probatum.models import load_model\n"
        "from probatum.core.records import Request, Sampling\n"
        "model = load_model('llamacpp/' + sys.argv[1], {'threads': '1'})\n"
        "try:\n"
        "    for response in model.answer(Request(item_id='1', prompt=f'p{n}') for n in itertools.count()):\n"
        "        print(response.finish, flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', threading.active_count())\n"
        "    asked = [Request(item_id='1', prompt='a', sampling=Sampling(max_tokens=3))]\n"
        "    print(len(list(model.answer(asked))))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(files / "random.gguf")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert (output.splitlines()[-2:], errors) == (["interrupted 1", "1"], "")


def test_verbose_lets_the_log_through_to_stderr(files):
    code = (
        "import sys\nfrom probatum.models import load_model\n"
        "load_model('llamacpp/' + sys.argv[1], {'threads': '1', 'verbose': 'true'}).close()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(files / "random.gguf")],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "llama_context" in ended.stderr
    assert ended.stdout == ""
