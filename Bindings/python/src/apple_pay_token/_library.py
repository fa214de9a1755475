"""The shared library's functions, as `applepaytoken.h` declares them."""

from __future__ import annotations

import ctypes
import pathlib

NOW = -(2**63)


class _Struct(ctypes.Structure):
    _fields_ = [("stage", ctypes.c_int32), ("json", ctypes.c_void_p), ("length", ctypes.c_size_t), ("handle", ctypes.c_void_p)]


def _load() -> ctypes.CDLL:
    beside = pathlib.Path(__file__).with_name("libapplepaytoken.so.1")
    return ctypes.CDLL(str(beside) if beside.exists() else "libapplepaytoken.so.1")


_c = _load()
_pointer = ctypes.POINTER(_Struct)
for _name, _arguments in {
    "open": [ctypes.c_char_p, ctypes.c_size_t],
    "inspect": [ctypes.c_char_p, ctypes.c_size_t],
    "verify": [_pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64],
    "decrypt": [_pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64],
    "confirm": [_pointer, ctypes.c_char_p, ctypes.c_size_t],
    "spend": [_pointer, _pointer],
}.items():
    _function = getattr(_c, f"apt_{_name}")
    _function.argtypes, _function.restype = _arguments, _pointer
_c.apt_free.argtypes, _c.apt_free.restype = [_pointer], None
_c.apt_version.restype = ctypes.c_char_p
_open, _inspect, _verify, _decrypt = _c.apt_open, _c.apt_inspect, _c.apt_verify, _c.apt_decrypt
_confirm, _spend, _free = _c.apt_confirm, _c.apt_spend, _c.apt_free


class Result:
    """A result of the library, which overwrites and frees it when Python no longer needs it."""

    __slots__ = ("pointer", "stage", "_free")

    def __init__(self, pointer) -> None:  # type: ignore[no-untyped-def]
        self.pointer, self._free = pointer, _free
        self.stage: int = pointer.contents.stage

    @property
    def json(self) -> bytes:
        found = self.pointer.contents
        return ctypes.string_at(found.json, found.length)

    def __del__(self) -> None:
        self._free(self.pointer)


def open(settings: bytes) -> Result:
    return Result(_open(settings, len(settings)))


def inspect(token: bytes) -> Result:
    return Result(_inspect(token, len(token)))


def verify(keys: Result, token: bytes, time: int) -> Result:
    return Result(_verify(keys.pointer, token, len(token), time))


def decrypt(keys: Result, token: bytes, time: int) -> Result:
    return Result(_decrypt(keys.pointer, token, len(token), time))


def confirm(token: Result, expected: bytes) -> Result:
    return Result(_confirm(token.pointer, expected, len(expected)))


def spend(keys: Result, token: Result) -> Result:
    return Result(_spend(keys.pointer, token.pointer))


def version() -> str:
    return _c.apt_version().decode()
