"""Messages, and descriptors that come with them, over a stream: macOS has no SOCK_SEQPACKET.

A message is four bytes of length and the text. Whoever gives a descriptor keeps its own copy until the other
side says that it came: on macOS one that is closed on its way arrives closed.
"""

from __future__ import annotations

import _socket
import os
import sys
from collections import deque
from typing import Final

_HEAD: Final = 4
_CAME: Final = 0xFFFFFFFF  # in the place of a length: a descriptor arrived


class Channel:
    """One end; the other is in another process that is trusted."""

    def __init__(self, connection: _socket.socket) -> None:
        self._connection = connection
        self._given: deque[int] = deque()

    def fileno(self) -> int:
        """To poll for."""
        return self._connection.fileno()

    def send(self, message: bytes) -> int:
        """Sends one message.

        Raises:
            OSError: nobody is there.
        """
        self._connection.sendall(len(message).to_bytes(_HEAD, "little") + message)
        return len(message)

    def give(self, message: bytes, descriptor: int) -> None:
        """Sends one message with a descriptor, which then belongs to the other side.

        Raises:
            OSError: nobody is there.
        """
        text = len(message).to_bytes(_HEAD, "little") + message
        right = descriptor.to_bytes(4, sys.byteorder)
        self._given.append(descriptor)
        sent = self._connection.sendmsg([text], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, right)])
        self._connection.sendall(text[sent:])

    def read(self) -> bytes | None:
        """What comes next: a message, empty at the end; `None` where a descriptor had come."""
        head, rights, _, _ = self._connection.recvmsg(_HEAD, _socket.CMSG_SPACE(4))
        return self._rest(head, rights)

    def recv(self) -> bytes:
        """The next message; empty at the end."""
        while (message := self.read()) is None:
            pass
        return message

    def recvmsg(self, _size: int, ancillary: int, /) -> tuple[bytes, list[tuple[int, int, bytes]], int, None]:
        """The next message and what came with it, as a socket gives them."""
        while True:
            head, rights, flags, _ = self._connection.recvmsg(_HEAD, ancillary)
            message = self._rest(head, rights)
            if message is not None:
                return message, rights, flags, None

    def _rest(self, head: bytes, rights: list[tuple[int, int, bytes]]) -> bytes | None:
        if not head:
            return b""
        length = int.from_bytes(head + self._exactly(_HEAD - len(head)), "little")
        if length == _CAME:
            os.close(self._given.popleft())
            return None
        message = self._exactly(length)
        if rights:
            self._connection.sendall(_CAME.to_bytes(_HEAD, "little"))
        return message

    def _exactly(self, count: int) -> bytes:
        text = b""
        while len(text) < count:
            more = self._connection.recv(count - len(text))
            if not more:
                raise ConnectionResetError("a message without an end")
            text += more
        return text

    def close(self) -> None:
        """Closes it, and what the other side has not taken."""
        self._connection.close()
        while self._given:
            os.close(self._given.popleft())
