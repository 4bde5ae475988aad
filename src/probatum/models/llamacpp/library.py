"""llama.cpp's C interface, as the wheel `xllamacpp` exports it, by ctypes.

Two structures of parameters are passed by value, and llama.cpp changes them between versions. Their layout
is therefore checked at load time against the defaults that the library itself fills in, and again against
what a context says of itself: a version that lays them out in another way is refused, not misread.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Mapping
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint8, c_uint32, c_void_p
from functools import cache
from importlib import import_module
from typing import Any, Final

from probatum.core.errors import ModelError, UsageError
from probatum.models.threads import sleeping_threads

__all__ = ["Batch", "Library", "load_library"]

KNOWN: Final = "xllamacpp>=2026.10,<2026.11"
"""Versions whose layout is the one below."""

SLACK: Final = 256  # bytes behind each structure, for fields of a later version

ERROR_LEVEL: Final = 4  # GGML_LOG_LEVEL_ERROR
CONTINUED_LEVEL: Final = 5  # GGML_LOG_LEVEL_CONT: belongs to the message before


class ModelParameters(ctypes.Structure):
    """`llama_model_params`."""

    _fields_ = (
        *((name, c_void_p) for name in ("devices", "tensor_buft_overrides")),
        *((name, c_int32) for name in ("n_gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")),
        *((name, c_void_p) for name in ("tensor_split", "progress", "progress_data", "kv_overrides")),
        *((name, c_bool) for name in ("vocab_only", "check_tensors", "use_extra_bufts", "no_host")),
        *((name, c_bool) for name in ("no_alloc", "load_mtp")),
        ("slack", c_uint8 * SLACK),
    )


class ContextParameters(ctypes.Structure):
    """`llama_context_params`."""

    _fields_ = (
        *((name, c_uint32) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq")),
        *((name, c_uint32) for name in ("n_outputs_max", "n_outputs_max_per_seq")),
        *((name, c_int32) for name in ("n_threads", "n_threads_batch", "ctx_type", "rope_scaling_type")),
        *((name, c_int32) for name in ("pooling_type", "attention_type", "flash_attn_type")),
        *((name, c_float) for name in ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor")),
        *((name, c_float) for name in ("yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow")),
        *(("yarn_orig_ctx", c_uint32), ("defrag_thold", c_float)),
        *((name, c_void_p) for name in ("cb_eval", "cb_eval_user_data")),
        *((name, c_int32) for name in ("type_k", "type_v")),
        *((name, c_void_p) for name in ("abort_callback", "abort_callback_data")),
        ("moe_cache_size", c_size_t),
        *((name, c_bool) for name in ("embeddings", "offload_kqv", "no_perf", "op_offload")),
        *((name, c_bool) for name in ("swa_full", "kv_unified")),
        ("slack", c_uint8 * SLACK),
    )


class Batch(ctypes.Structure):
    """`llama_batch`: for each row a token, its position, its one sequence, and whether logits are wanted."""

    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(c_int32)),
        ("embd", POINTER(c_float)),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(c_int32))),
        ("logits", POINTER(c_int8)),
    )


MODEL_DEFAULTS: Final[Mapping[str, object]] = {
    "devices": None,
    "n_gpu_layers": -1,
    "split_mode": 1,
    "load_mode": -1,
    "lazy_mode": 1,
    "main_gpu": 0,
    "tensor_split": None,
    "kv_overrides": None,
    "vocab_only": False,
    "check_tensors": False,
    "use_extra_bufts": True,
    "no_host": False,
    "no_alloc": False,
}
CONTEXT_DEFAULTS: Final[Mapping[str, object]] = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "n_threads": 4,
    "n_threads_batch": 4,
    "rope_scaling_type": -1,
    "pooling_type": -1,
    "attention_type": -1,
    "flash_attn_type": -1,
    "yarn_ext_factor": -1.0,
    "defrag_thold": -1.0,
    "type_k": 1,
    "type_v": 1,
    "moe_cache_size": 0,
    "embeddings": False,
    "offload_kqv": True,
    "swa_full": True,
    "kv_unified": False,
}

LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)

FUNCTIONS: Final[Mapping[str, tuple[Any, tuple[Any, ...]]]] = {
    "llama_backend_init": (None, ()),
    "llama_log_set": (None, (LogCallback, c_void_p)),
    "llama_supports_gpu_offload": (c_bool, ()),
    "llama_model_default_params": (ModelParameters, ()),
    "llama_model_load_from_file": (c_void_p, (c_char_p, ModelParameters)),
    "llama_model_free": (None, (c_void_p,)),
    "llama_model_get_vocab": (c_void_p, (c_void_p,)),
    "llama_model_n_ctx_train": (c_int32, (c_void_p,)),
    "llama_model_has_encoder": (c_bool, (c_void_p,)),
    "llama_model_has_decoder": (c_bool, (c_void_p,)),
    "llama_model_is_recurrent": (c_bool, (c_void_p,)),
    "llama_model_is_hybrid": (c_bool, (c_void_p,)),
    "llama_model_is_diffusion": (c_bool, (c_void_p,)),
    "llama_context_default_params": (ContextParameters, ()),
    "llama_init_from_model": (c_void_p, (c_void_p, ContextParameters)),
    "llama_free": (None, (c_void_p,)),
    "llama_n_ctx_seq": (c_uint32, (c_void_p,)),
    "llama_n_ubatch": (c_uint32, (c_void_p,)),
    "llama_n_seq_max": (c_uint32, (c_void_p,)),
    "llama_n_threads": (c_int32, (c_void_p,)),
    "llama_get_memory": (c_void_p, (c_void_p,)),
    "llama_memory_clear": (None, (c_void_p, c_bool)),
    "llama_memory_seq_rm": (c_bool, (c_void_p, c_int32, c_int32, c_int32)),
    "llama_memory_seq_cp": (None, (c_void_p, c_int32, c_int32, c_int32, c_int32)),
    "llama_decode": (c_int32, (c_void_p, Batch)),
    "llama_get_logits_ith": (c_void_p, (c_void_p, c_int32)),
    "llama_vocab_n_tokens": (c_int32, (c_void_p,)),
    "llama_vocab_bos": (c_int32, (c_void_p,)),
    "llama_vocab_eos": (c_int32, (c_void_p,)),
    "llama_vocab_get_add_bos": (c_bool, (c_void_p,)),
    "llama_vocab_get_text": (c_char_p, (c_void_p, c_int32)),
    "llama_vocab_is_eog": (c_bool, (c_void_p, c_int32)),
    "llama_tokenize": (c_int32, (c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool)),
    "llama_token_to_piece": (c_int32, (c_void_p, c_int32, c_char_p, c_int32, c_int32, c_bool)),
}
"""Name → type of the result, types of the arguments."""


class Library:
    """The functions of llama.cpp by their names, and what it logs."""

    def __init__(self, path: str, version: str) -> None:
        self.version = version
        self.verbose = False
        """Whether its log goes to stderr."""
        self._errors: deque[str] = deque(maxlen=8)
        self._level = 0
        native = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(native, name, None)
            if function is None:
                raise self.unknown_layout(f"it has no function {name!r}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        for parameters, expected in (
            (self.llama_model_default_params(), MODEL_DEFAULTS),
            (self.llama_context_default_params(), CONTEXT_DEFAULTS),
        ):
            for field, value in expected.items():
                if getattr(parameters, field) != value:
                    raise self.unknown_layout(f"{field} is {getattr(parameters, field)!r}, not {value!r}")
        self._callback = LogCallback(self._log)  # held for as long as the library may call it
        self.llama_log_set(self._callback, None)
        self.llama_backend_init()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # only for names that are not there: tells mypy that others are

    def unknown_layout(self, evidence: str) -> ModelError:
        """The error that says this version of the wheel cannot be driven."""
        return ModelError(
            f"xllamacpp {self.version} lays out its parameters in a way that is not known here ({evidence}): "
            f"pip install '{KNOWN}'"
        )

    def last_error(self) -> str:
        """What llama.cpp said last that was an error, on one line; and forgets it."""
        text = "; ".join(" ".join(error.split()) for error in self._errors if error.strip())
        self._errors.clear()
        return text or "it gives no reason"

    def _log(self, level: int, text: bytes | None, _data: object) -> None:
        message = (text or b"").decode("utf-8", "replace")
        if self.verbose:
            sys.stderr.write(message)
        if level != CONTINUED_LEVEL:
            self._level = level
            if level == ERROR_LEVEL:
                self._errors.append(message)
        elif self._level == ERROR_LEVEL and self._errors:
            self._errors[-1] += message


@cache
def load_library() -> Library:
    """The library of the installed wheel; opened once in a process.

    Raises:
        UsageError: the wheel is not installed.
        ModelError: its interface is not the one known here.
    """
    try:
        with sleeping_threads():
            package, extension = import_module("xllamacpp"), import_module("xllamacpp.xllamacpp")
    except ImportError as error:
        raise UsageError(
            f"models of the provider 'llamacpp' need the package 'xllamacpp' ({error}): "
            "pip install 'probatum[local]'"
        ) from error
    return Library(str(extension.__file__), str(package.__version__))
