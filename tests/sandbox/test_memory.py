"""What makes clones cheap: few mappings, no holes in the heap, and pages that are copied at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox
from probatum.sandbox.inside import heap, hot, pages

linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own means")

READ_WRITE, READ_EXECUTE = 3, 5
LIBRARY = """\
10000-12000 r--p 00000000 fe:00 1 /usr/lib/a.so
12000-15000 r-xp 00002000 fe:00 1 /usr/lib/a.so
15000-17000 r--p 00005000 fe:00 1 /usr/lib/a.so
17000-18000 r--p 00006000 fe:00 1 /usr/lib/a.so
18000-19000 rw-p 00007000 fe:00 1 /usr/lib/a.so
19000-1a000 rw-p 00000000 00:00 0
"""
WITHOUT_A_GAP = """\
20000-22000 r--p 00000000 fe:00 2 /lib/c library.so
22000-25000 r-xp 00002000 fe:00 2 /lib/c library.so
25000-26000 r--p 00005000 fe:00 2 /lib/c library.so
26000-27000 r--p 00006000 fe:00 2 /lib/c library.so
27000-28000 rw-p 00007000 fe:00 2 /lib/c library.so
"""
APART = """\
30000-31000 r--p 00000000 fe:00 3 /usr/share/data
31000-32000 r--p 00000000 fe:00 4 /usr/share/other
40000-41000 r-xp 00000000 fe:00 5 /usr/lib/b.so
41000-42000 rw-p 00001000 fe:00 5 /usr/lib/b.so
50000-51000 r--s 00000000 fe:00 6 /usr/lib/shared.so
51000-52000 r-xs 00001000 fe:00 6 /usr/lib/shared.so
60000-61000 r--p 00000000 fe:00 7 /usr/share/locale
61000-62000 r--p 00001000 fe:00 7 /usr/share/locale
"""


@pytest.mark.parametrize(
    ("maps", "joined"),
    [
        (LIBRARY, [(0x10000, 0x17000, READ_EXECUTE), (0x17000, 0x19000, READ_WRITE)]),
        (WITHOUT_A_GAP, [(0x20000, 0x26000, READ_EXECUTE), (0x26000, 0x28000, READ_WRITE)]),
        (APART, []),
        ("", []),
    ],
    ids=["library", "without-a-gap", "apart", "empty"],
)
def test_a_library_becomes_two_mappings_and_nothing_is_both_written_and_run(
    maps: str, joined: list[tuple[int, int, int]]
) -> None:
    assert pages.joinable(maps) == joined


def run(source: str) -> str:
    """What a fresh interpreter prints: what is done to the memory of this one would outlive the test."""
    head = "import os\nfrom probatum.sandbox.inside import heap, hot, pages, syscalls\n"
    done = subprocess.run([sys.executable, "-c", head + source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@linux
def test_joined_libraries_still_work_and_are_fewer_mappings() -> None:
    printed = run(
        "maps = lambda: open('/proc/self/maps').read()\n"
        "before = maps()\n"
        "pages.join_mappings()\n"
        "import json, decimal, hashlib\n"
        "after = maps()\n"
        "both = [line for line in after.splitlines() if 'w' in line.split()[1] and 'x' in line.split()[1]]\n"
        "wanted = pages.joinable(before)\n"
        "print(len(wanted) > 2, pages.joinable(before) != pages.joinable(after), both)\n"
    )
    assert printed == "True True []"


TABLE = """\
Small block threshold = 512, in 32 size classes.

class   size   num pools   blocks in use  avail blocks
-----   ----   ---------   -------------  ------------
    0     16           1             203           818
    2     48          59           20025            44
   31    512           6             170            16

# arenas allocated total           =                    5
9 9 9 9 9
"""


def test_holes_are_read_from_the_table_of_the_allocator() -> None:
    assert heap.holes(TABLE) == {16: 818, 48: 44, 512: 16}
    assert heap.holes("mimalloc knows no such table\n1 2 3\n") == {}


@linux
def test_objects_of_every_size_fill_the_holes_of_their_size() -> None:
    printed = run(
        "before = heap.holes(heap._statistics())\n"
        "kept = heap.fill_holes()\n"
        "after = heap.holes(heap._statistics())\n"
        "pool = 1 << 14\n"
        "print(len(after), sum(before.values()) <= len(kept))\n"
        "print([size for size, count in after.items() if count > pool // size])\n"
    )
    assert printed.splitlines() == ["32 True", "[]"]


@linux
def test_large_objects_come_to_lie_at_the_end_of_the_heap() -> None:
    printed = run(
        "library = syscalls.Heap()\n"
        "first, last = library.end()\n"
        "library.fill_holes(heap.LARGE)\n"
        "ours = syscalls._libc.malloc\n"
        "blocks = [ours(size) for size in (600, 1500, 5000, 70000)] if first else []\n"
        "print(all(block >= first for block in blocks), blocks == sorted(blocks))\n"
    )
    assert printed == "True True"


def test_unbroken_runs_of_pages() -> None:
    assert hot.runs([7, 3, 4, 9, 8, 1]) == [(1, 1), (3, 2), (7, 3)]
    assert hot.runs([]) == []


def test_only_private_memory_that_can_be_written_is_looked_at() -> None:
    assert hot.writable(LIBRARY + APART) == [
        (first // hot.PAGE, size // hot.PAGE)
        for first, size in ((0x18000, 0x1000), (0x19000, 0x1000), (0x41000, 0x1000))
    ]


AREA = """
import ctypes, mmap
size = 16 * hot.PAGE
area = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area[:] = b"x" * size
first = ctypes.addressof(ctypes.c_char.from_buffer(area)) // hot.PAGE

def write(*places):
    def live():
        for place in places:
            area[place * hot.PAGE] = 1
    return live

def seen(live):
    return sorted(page - first for page in hot.written(os.fork, live) if 0 <= page - first < 16)
"""


@linux
def test_pages_that_a_clone_writes_are_told_apart_from_those_that_it_reads() -> None:
    assert run(AREA + "print(seen(write()), seen(write(3, 4, 11)))") == "[] [3, 4, 11]"


@linux
def test_pinned_pages_are_the_clones_own_from_its_start() -> None:
    printed = run(
        AREA + "try:\n"
        "    hot.pin({first + 2, first + 3, first + 9}, 77)\n"
        "except OSError as error:\n"
        "    print('none', error)\n"
        "else:\n"
        "    print(seen(write()), seen(write(4)), os.readlink('/proc/self/fd/77'))\n"
    )
    if printed.startswith("none"):
        pytest.skip(f"no io_uring here: {printed}")
    assert printed == "[2, 3, 9] [2, 3, 4, 9] anon_inode:[io_uring]"


DATA = """\
10000-20000 rw-p 00000000 00:00 0 [heap]
20000-90000 rw-p 00000000 00:00 0 [heap]
90000-a0000 r--p 00000000 fe:00 1 /usr/lib/a.so
a0000-d0000 rw-p 00000000 00:00 0
d1000-111000 rw-p 00010000 fe:00 1 /usr/lib/a.so
200000-300000 rw-s 00000000 fe:00 2 /dev/shared
300000-400000 rwxp 00000000 00:00 0
400000-500000 rw-p 00000000 00:00 0 [stack]
"""


def test_large_parts_of_private_data_are_moved_and_the_stack_is_not() -> None:
    assert pages.data_ranges(DATA) == [(0x10000, 0x90000), (0xD1000, 0x111000)]
    assert pages.data_ranges("") == []


@linux
def test_functions_of_the_c_library_run_in_a_chain() -> None:
    printed = run(
        "import ctypes\n"
        "one, two, three = (ctypes.create_string_buffer(text, 8) for text in (b'first', b'', b''))\n"
        "first, second, third = map(ctypes.addressof, (one, two, three))\n"
        "steps = [('memcpy', (second, first, 5)), ('memset', (first, 120, 3)), ('memcpy', (third, first, 5))]\n"
        "if syscalls.has_contexts():\n"
        "    syscalls.chain(steps)\n"
        "    syscalls.chain([])\n"
        "    print(one.value, two.value, three.value)\n"
    )
    assert printed in {"b'xxxst' b'first' b'xxxst'", ""}


@linux
def test_an_interpreter_works_on_after_its_data_were_moved() -> None:
    printed = run(
        "import gc, json, typing\n"
        "before = open('/proc/self/maps').read()\n"
        "texts = [str(number) for number in range(20_000)]\n"
        "moved = pages.move_data()\n"
        "again = [str(number) for number in range(200_000)]\n"
        "import decimal, hashlib, fractions\n"
        "gc.collect()\n"
        "total = sum(size for first, last in pages.data_ranges(before) for size in [last - first])\n"
        "print(json.dumps([sum(map(int, texts)), sum(map(int, again)), moved == 0 or moved >= total // 2]))\n"
        "if os.fork() == 0:\n"
        "    os._exit(len(set(again)) != 200_000)\n"
        "print(os.wait()[1])\n"
    )
    assert printed.splitlines() == [f"[{sum(range(20_000))}, {sum(range(200_000))}, true]", "0"]


@linux
def test_what_is_pinned_of_a_large_folio_is_taken_out_of_it_before() -> None:
    printed = run(
        "try:\n"
        "    first = pages.large_folios(pages.HUGE) // hot.PAGE\n"
        "    wanted = {first + 2, first + 3, first + 9}\n"
        "    hot.part(os.fork, wanted)\n"
        "    hot.pin(wanted, 77)\n"
        "except OSError as error:\n"
        "    print('none', error)\n"
        "else:\n"
        "    found = hot.written(os.fork, lambda: None)\n"
        "    print(sorted(page - first for page in found if 0 <= page - first < pages.HUGE // hot.PAGE))\n"
    )
    if printed.startswith("none"):
        pytest.skip(f"no large folio or no io_uring here: {printed}")
    assert printed == "[2, 3, 9]"


def test_too_many_pages_are_not_pinned() -> None:
    assert hot.pin(set(range(hot.MOST + 1)), 77) == 0
    assert hot.pin(set(), 77) == 0


HOLDS_NOTHING = """
import os
def f():
    descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file.read().splitlines())
    held = [status[name].strip() for name in ("Seccomp", "NoNewPrivs", "CapEff", "CapBnd")]
    return len(descriptors), descriptors[:4], held
"""


@linux
def test_a_candidate_has_its_connection_and_no_other_descriptor_of_the_zygote(sandbox: Sandbox) -> None:
    tests = (
        "count, first, held = f()\n"
        "assert (count, first) == (5, [0, 1, 2, 3]), (count, first)\n"  # the fifth lists them
        "assert held == ['2', '1', '0' * 16, '0' * 16], held\n"
    )
    program = Program(code=HOLDS_NOTHING, tests=tests, entry_points=("f",), limits=Limits())
    (ended,) = sandbox.execute([program])
    assert ended.status == "passed", ended
