"""The room a worker lives in: own namespaces, and a root directory that holds an interpreter only.

Nothing of /home, /etc, /root or /sys exists inside; what exists is read-only, and the one place to write is
a small tmpfs in memory. No network device is up. Works as root (which first gives up being root) and as an
ordinary user where user namespaces are allowed.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH108, PTH110, PTH112, PTH114, PTH115, PTH120, PTH123, PTH208, PTH211

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Sequence
from typing import Final

from probatum.sandbox.inside import syscalls
from probatum.sandbox.inside.syscalls import (
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
)

USER: Final = 1000  # inside; no file there belongs to anyone else's id
DEVICES: Final = ("null", "zero", "random", "urandom")
FIRST_FREE_USER: Final = 1_879_048_192  # ids from here are given to nobody; one for each worker
NOBODY: Final = 65534
INODES: Final = 4096  # files and directories that one execution may have
_SAFE: Final = MS_NOSUID | MS_NODEV


def interpreter_paths() -> list[str]:
    """What must be readable inside: the standard library, and the directories of shared libraries in use."""
    found = {os.path.dirname(os.__file__)}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            path = line.split(maxsplit=5)[5:]
            name = path[0].strip() if path else ""
            if name.startswith("/") and (".so" in name):
                found.add(os.path.dirname(name))
    found.update(path for path in ("/usr/share/zoneinfo", "/etc/ld.so.cache") if os.path.exists(path))
    with_links = {real for path in found for real in (path, os.path.realpath(path))}
    chosen: list[str] = []
    for one in sorted(with_links):  # a parent comes before what lies below it
        if not any(one.startswith(parent + "/") for parent in chosen):
            chosen.append(one)
    return chosen


def _system_links() -> dict[str, str]:
    """/lib, /lib64 and their kin, where they are links into /usr."""
    return {path: os.readlink(path) for path in ("/lib", "/lib64", "/lib32") if os.path.islink(path)}


def build_root(root: str, paths: Sequence[str]) -> None:
    """Makes the new root at the mount point `root`: read-only binds, four devices, places to mount.

    `root` must be a fresh directory of a mount namespace of our own.
    """
    syscalls.mount(None, "/", None, MS_REC | MS_PRIVATE)
    syscalls.mount("tmpfs", root, "tmpfs", _SAFE, "size=1m,mode=755")
    links = _system_links()
    for path, target in links.items():
        os.symlink(target, root + path)
    for path in paths:
        if any(path == link or path.startswith(link + "/") for link in links):
            continue  # reached through the link
        _bind(path, root + path)
    os.makedirs(root + "/dev")
    for device in DEVICES:
        with open(f"{root}/dev/{device}", "wb"):
            pass
        syscalls.mount(f"/dev/{device}", f"{root}/dev/{device}", None, MS_BIND)
    for name in ("/proc", "/w", "/old"):
        os.mkdir(root + name)
    for name in ("/dev/shm", "/tmp"):  # noqa: S108 - links into the private work directory
        if not os.path.isdir(root + name):  # an interpreter below /tmp is shown there
            os.symlink("/w", root + name)
    if os.path.exists("/dev/fd"):
        os.symlink("/proc/self/fd", root + "/dev/fd")


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb"):
            pass
    syscalls.mount(source, target, None, MS_BIND)  # not recursive: what is mounted below stays out
    syscalls.mount(None, target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | _SAFE)


def enter_root(root: str) -> None:
    """Makes `root` the root directory and forgets the old one."""
    os.chdir(root)
    syscalls.pivot_root(".", "old")
    os.chdir("/")
    syscalls.unmount("/old")
    os.rmdir("/old")
    syscalls.mount(None, "/", None, MS_BIND | MS_REMOUNT | MS_RDONLY | _SAFE)


def mount_work(size: int) -> None:
    """A fresh work directory: a tmpfs of `size` bytes."""
    options = f"size={size},mode=700"
    try:
        syscalls.mount("tmpfs", "/w", "tmpfs", _SAFE, f"{options},nr_inodes={INODES}")
    except OSError as error:
        if error.errno != errno.EINVAL:  # gVisor knows no limit of files
            raise
        syscalls.mount("tmpfs", "/w", "tmpfs", _SAFE, options)


def cover_foreign_mounts() -> None:
    """Empties what gVisor mounts unasked: what is written to /dev/shm would outlive its program."""
    for folder in ("/dev/shm", "/sys"):  # noqa: S108 - mounted over
        syscalls.mount("tmpfs", folder, "tmpfs", _SAFE | MS_RDONLY, "size=4k")


def empty(folder: str) -> None:
    """Removes all that is in a directory, where it is none of our own file systems."""
    import shutil  # noqa: PLC0415 - for the rung that isolates nothing; it would cost memory in every candidate

    os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        path = f"{folder}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def replace_work(size: int) -> None:
    """Throws the work directory away, with all that is in it."""
    syscalls.unmount("/w")
    mount_work(size)


def _map_user() -> None:
    """Our own id, and no other, is `USER` inside."""
    user, group = os.geteuid(), os.getegid()
    syscalls.unshare(CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{USER} {user} 1"),
        ("gid_map", f"{USER} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _highest_user() -> int:
    """The highest user id that exists here: inside a container there may be few."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return max(int(first) + int(count) - 1 for first, _, count in (line.split() for line in file))


def give_up_root() -> None:
    """Becomes a user that nobody is, keeping the capabilities until the user namespace is ours."""
    user = FIRST_FREE_USER + os.getpid()
    if user > _highest_user():
        user = NOBODY
    syscalls.prctl(syscalls.PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    syscalls.raise_capabilities()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root, and no id can be mapped


ROOMS: Final = ("/tmp", "/mnt", "/media", "/srv", "/run", "/opt", "/var/tmp")  # noqa: S108 - mounted over


def room(paths: Sequence[str]) -> str:
    """A directory to build the new root over: a tmpfs hides what was there, so nothing needed may be below.

    Raises:
        OSError: there is none.
    """
    for folder in ROOMS:
        if os.path.isdir(folder) and not any(
            path == folder or path.startswith(folder + "/") for path in paths
        ):
            return folder
    raise OSError(errno.ENOENT, f"none of {', '.join(ROOMS)} can be mounted over")


def enter(paths: Sequence[str]) -> None:
    """Moves this process into namespaces of its own; returns in a child, the first process there.

    The parent stays outside as a stub that ends when the child does.

    Raises:
        OSError: the kernel or a security module forbids it.
    """
    others = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID
    root = os.geteuid() == 0
    place = room(paths)
    if root:  # while still root, who may read every path of the interpreter
        syscalls.unshare(CLONE_NEWNS)
        build_root(place, paths)
        syscalls.mount("/proc", place + "/proc", None, MS_BIND)  # a new one may be mounted where one is seen
        enter_root(place)
        give_up_root()
    _map_user()
    syscalls.unshare(others)
    if not root:
        build_root(place, paths)
    _unshare_cgroup()
    child = os.fork()
    if child:
        _stub(child)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    syscalls.set_hostname("sandbox")
    syscalls.mount("proc", "/proc" if root else place + "/proc", "proc", _SAFE | MS_NOEXEC)
    if not root:
        enter_root(place)
    with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
        file.write("0")  # counts for this user namespace: no candidate makes one below it


def _unshare_cgroup() -> None:
    try:
        syscalls.unshare(CLONE_NEWCGROUP)
    except OSError:
        return  # older kernels; /proc/self/cgroup then shows the path outside, and nothing else


def _stub(child: int) -> None:
    """Outside: holds nothing, waits, and ends as the child does."""
    os.closerange(0, 1 << 20)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
