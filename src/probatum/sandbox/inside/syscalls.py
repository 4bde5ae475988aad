"""Linux system calls that the standard library does not offer, through ctypes (x86_64 and aarch64)."""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Final

MACHINE: Final = os.uname().machine
NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "clone": 56,
        "madvise": 28,
        "mmap": 9,
        "mprotect": 10,
        "mremap": 25,
        "munmap": 11,
        "capset": 126,
        "fallocate": 285,
        "pivot_root": 155,
        "prctl": 157,
        "mount": 165,
        "umount2": 166,
        "sethostname": 170,
        "unshare": 272,
        "io_uring_setup": 425,
        "io_uring_register": 427,
    },
    "aarch64": {
        "clone": 220,
        "capset": 91,
        "fallocate": 47,
        "pivot_root": 41,
        "prctl": 167,
        "mount": 40,
        "umount2": 39,
        "sethostname": 161,
        "unshare": 97,
        "madvise": 233,
        "mprotect": 226,
        "io_uring_setup": 425,
        "io_uring_register": 427,
    },
}

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000
CLONE_NEWTIME: Final = 0x00000080
CLONE_PARENT: Final = 0x00008000
CLONE_CHILD_CLEARTID: Final = 0x00200000
CLONE_CHILD_SETTID: Final = 0x01000000
SIGCHLD: Final = 17
SIGKILL: Final = 9

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_KEEPCAPS: Final = 8
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_GET_TID_ADDRESS: Final = 40

CAP_VERSION_3: Final = 0x20080522
LAST_CAPABILITY: Final = 63  # the kernel says EINVAL well before

_HEAP_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_MADV_DONTNEED: Final = 4
_F_ADD_SEALS: Final = 1033
_F_SETFL: Final = 4
_SEALS: Final = 0x1 | 0x2 | 0x4  # no further seal, no shrinking, no growing

_libc = ctypes.PyDLL(None, use_errno=True)  # PyDLL: keeps the interpreter's lock, so that `clone` is safe
_libc.syscall.restype = ctypes.c_long
_long = ctypes.c_long


def call(name: str, *arguments: object) -> int:
    """One system call; integers are passed as `long`.

    Raises:
        OSError: the kernel refused.
    """
    number = NUMBERS[MACHINE][name]
    converted = [_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(_libc.syscall(_long(number), *converted))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def _text(value: str | None) -> ctypes.c_char_p:
    return ctypes.c_char_p(None if value is None else os.fsencode(value))


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Calls the kernel; the manual has it in section 2."""
    call("mount", _text(source), _text(target), _text(kind), flags, _text(data))


def unmount(target: str) -> None:
    """As umount2(2), detached: what is still open goes with its last user."""
    call("umount2", _text(target), MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    """Calls the kernel; the manual has it in section 2."""
    call("pivot_root", _text(new), _text(old))


def unshare(flags: int) -> None:
    """Calls the kernel; the manual has it in section 2."""
    call("unshare", flags)


def prctl(operation: int, first: int = 0, second: object = 0) -> None:
    """Calls the kernel; the manual has it in section 2."""
    call("prctl", operation, first, second, 0, 0)


def set_hostname(name: str) -> None:
    """Calls the kernel; the manual has it in section 2."""
    raw = name.encode()
    call("sethostname", ctypes.c_char_p(raw), len(raw))


_header = ctypes.create_string_buffer(struct.pack("Ii", CAP_VERSION_3, 0), 8)
_none = ctypes.create_string_buffer(b"\0" * 24, 24)


def drop_capabilities() -> None:
    """Empties the three capability sets; with `no_new_privs` set, exec cannot fill them again."""
    call("capset", _header, _none)


def raise_capabilities() -> None:
    """Makes all permitted capabilities effective again, after a change of user with `keepcaps`."""
    with open("/proc/self/status", encoding="ascii") as file:
        permitted = next(int(line.split()[1], 16) for line in file if line.startswith("CapPrm"))
    low, high = permitted & 0xFFFFFFFF, permitted >> 32
    data = struct.pack("6I", low, low, 0, high, high, 0)
    call("capset", _header, ctypes.create_string_buffer(data, 24))


def drop_bounding_set() -> None:
    """No exec of this process or of its children can gain a capability."""
    for capability in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return


def thread_id_address() -> int:
    """Where the C library keeps this thread's id, so that a cloned child's copy can be set right.

    0 where the kernel does not tell; then `raise()` and `abort()` of a child signal a stale id.
    """
    address = ctypes.c_long(0)
    try:
        prctl(PR_GET_TID_ADDRESS, ctypes.addressof(address))
    except OSError:
        return 0
    return address.value


_POLL_ENTRY: Final = struct.Struct("ihh")
POLLIN: Final = 0x1
POLLHUP: Final = 0x10
POLLRDHUP: Final = 0x2000


class Poll:
    """poll(2) on a fixed set of descriptors; the module `select` would cost memory in every candidate."""

    def __init__(self, wanted: dict[int, int]) -> None:
        self._descriptors = list(wanted)
        raw = b"".join(_POLL_ENTRY.pack(descriptor, events, 0) for descriptor, events in wanted.items())
        self._entries = ctypes.create_string_buffer(raw, len(raw))
        self._count = len(wanted)

    def __call__(self, milliseconds: int) -> list[int]:
        """The descriptors that are ready; none when the time (-1: no limit) has passed."""
        ready = _libc.poll(self._entries, self._count, milliseconds)
        if ready <= 0:
            return []
        raw = self._entries.raw
        return [
            descriptor
            for place, descriptor in enumerate(self._descriptors)
            if _POLL_ENTRY.unpack_from(raw, place * _POLL_ENTRY.size)[2]
        ]


def seal(descriptor: int) -> None:
    """Fixes the size of a memfd for good."""
    if _libc.fcntl(descriptor, _F_ADD_SEALS, _SEALS) < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"fcntl: {os.strerror(error)}")


def clear_flags(descriptor: int) -> None:
    """No file status flag (`O_APPEND`, `O_NONBLOCK`, …) is left on an open file."""
    _libc.fcntl(descriptor, _F_SETFL, 0)


class _Allocated(ctypes.Structure):
    """struct mallinfo2, of which one field is of use: bytes that are free at the end of the heap."""

    _fields_ = (("unused", ctypes.c_size_t * 9), ("keepcost", ctypes.c_size_t))


class Heap:
    """The C library's heap, where objects of more than 512 bytes are; glibc alone tells of it."""

    def __init__(self) -> None:
        self._told = getattr(_libc, "mallinfo2", None)  # since glibc 2.33
        if self._told is not None:
            self._told.restype = _Allocated
            _libc.malloc.restype = _libc.sbrk.restype = ctypes.c_void_p

    def end(self) -> tuple[int, int]:
        """First and last address of what is free at its end; both 0 where the library does not tell."""
        if self._told is None:
            return 0, 0
        last = _libc.sbrk(0) or 0
        return last - self._told().keepcost, last

    def fill_holes(self, sizes: Iterable[int]) -> None:
        """Takes all that is free before the end, so that new objects come to lie there, side by side.

        Args:
            sizes: bytes, from large to small.
        """
        first, last = self.end()
        for size in sizes if first else ():
            while True:
                block = ctypes.c_void_p(_libc.malloc(size))
                if not first > (block.value or last):
                    _libc.free(block)
                    break

    def trim(self) -> None:
        """Gives free memory back, so that children need not copy it."""
        trim = getattr(_libc, "malloc_trim", None)
        if trim is not None:
            trim(0)
        first, last = self.end()
        first = -(-(first + _HEAP_PAGE) // _HEAP_PAGE) * _HEAP_PAGE
        if 0 < first < last:  # where large blocks are in huge pages, the library gives back whole ones only
            call("madvise", first, last - first, _MADV_DONTNEED)


def cloning(flags: int) -> tuple[Callable[..., int], tuple[object, ...]]:
    """A function and its arguments: fork() with namespace flags, without the handlers of Python and libc.

    Only for a process of one thread: there is no other thread whose locks would need mending, and the
    child's thread id is set by the kernel (`CLONE_CHILD_SETTID`), as the C library's own fork does. It
    returns the child's id in the parent, 0 in the child, and -1 (see `error_number`) where it is refused.
    """
    address = thread_id_address()
    if address:
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID
    # x86_64: flags, stack, parent_tid, child_tid, tls; aarch64 swaps the last two
    order = (0, 0, address, 0) if MACHINE == "x86_64" else (0, 0, 0, address)
    values = (NUMBERS[MACHINE]["clone"], flags | SIGCHLD, *order)
    return _libc.syscall, tuple(_long(value) for value in values)


def dropping_capabilities() -> tuple[object, ...]:
    """Arguments for the function that `cloning` gives: as `drop_capabilities`; it returns 0 where it did."""
    return _long(NUMBERS[MACHINE]["capset"]), _header, _none


def error_number() -> int:
    """Why the last call was refused."""
    return ctypes.get_errno()


_CONTEXT: Final = 1 << 12  # bytes: struct ucontext_t has less than a thousand
_CONTEXT_STACK: Final = 1 << 16  # bytes
_LINK: Final = 8  # offset of `uc_link`, which `uc_stack` follows
_ANONYMOUS: Final = 0x22  # MAP_PRIVATE | MAP_ANONYMOUS


def has_contexts() -> bool:
    """Whether the C library has contexts (makecontext(3)): musl has none."""
    return all(hasattr(_libc, name) for name in ("getcontext", "makecontext", "swapcontext", "mremap"))


def chain(steps: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    """Calls functions of the C library one after the other, without a step of the interpreter in between.

    Each is a context that ends in the next, and the last ends here.

    Args:
        steps: name and arguments of each. What they return is lost.
    """
    if not steps:
        return
    each = _CONTEXT + _CONTEXT_STACK
    size = each * (len(steps) + 1)
    base = call("mmap", 0, size, 1 | 2, _ANONYMOUS, -1, 0)
    contexts = [base + place * each for place in range(1, len(steps) + 1)]
    for (name, arguments), here, following in zip(steps, contexts, [*contexts[1:], base], strict=True):
        _libc.getcontext(ctypes.c_void_p(here))
        head = struct.pack("QQQQ", following, here + _CONTEXT, 0, _CONTEXT_STACK)
        ctypes.memmove(here + _LINK, head, len(head))
        function = ctypes.cast(getattr(_libc, name), ctypes.c_void_p)
        _libc.makecontext(ctypes.c_void_p(here), function, len(arguments), *map(_long, arguments))
    _libc.swapcontext(ctypes.c_void_p(base), ctypes.c_void_p(contexts[0]))
    call("munmap", base, size)
