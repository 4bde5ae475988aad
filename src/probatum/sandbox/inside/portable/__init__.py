"""A worker of calls that every POSIX system has: for macOS, where none of Linux's means exist.

The judge and the candidate are those of Linux (`judge`, `execution`, `candidate`, `frames`); what differs is
who keeps them. Three kinds of processes, each an interpreter of its own rather than a fork (macOS forbids
most of its libraries after a fork):

- the **keeper** starts the others, watches and kills. It holds nothing of a program, and parses nothing that
  a program says;
- the **judge** runs the tests;
- a **candidate** runs one program, in a session and process group of its own. One waits, started ahead.

The commands that start judge and candidate come from the host: on macOS they begin with `sandbox-exec`, so
that both are held by Seatbelt, and the keeper, which must be able to kill, is not.

What stands in for Linux: fork, `setsid`, `killpg` and `wait4` for pid namespaces and pidfd; limits that a
process sets for itself, before there is a program, for `prlimit`; files without a name for sealed memory;
`proc_pid_rusage` for `/proc`; windows without work for the wait in the run queue.
"""
