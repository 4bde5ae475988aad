"""Tiny models in files, made once; and models loaded from them, closed at the end of a test."""

from __future__ import annotations

import pytest

from probatum.models import load_model
from tests.models.llamacpp.tiny import EOS, chain_model, letter, piece, random_model


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Directory of the tiny models."""
    directory = tmp_path_factory.mktemp("models")
    letters = [letter(character) for character in "helo wrd\n"]
    spell = {one: {after: 20.0} for one, after in zip(letters, [*letters[1:], EOS], strict=True)}
    chain_model(directory / "spell.gguf", spell)
    chain_model(
        directory / "dice.gguf", {piece("a"): {piece(face): 2.0 * place for place, face in enumerate("bcd")}}
    )
    random_model(directory / "random.gguf")
    return directory


@pytest.fixture
def load(files):
    """Loads `NAME.gguf` of the tiny models, with settings; closes it."""
    loaded = []

    def load_tiny(name: str, **settings):
        settings = {"threads": 1, **settings}
        loaded.append(load_model(f"llamacpp/{files / name}.gguf", settings))
        return loaded[-1]

    yield load_tiny
    for model in loaded:
        model.close()
