"""The ``epic`` command: one file a verb. Importing this is light, so that Ctrl-C is taken from the first moment on."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

from epic.cli.streams import drop_output, mend_streams
from epic.errors import InputError


def main() -> None:
    """Run the command line. Call it once in a process: Ctrl-C is ignored after it ends.

    An input that cannot be used, or a disk that cannot be written, ends with its message and exit code 2; Ctrl-C with a
    line and exit code 130.
    """
    try:
        try:
            _take_ctrl_c_once()
            mend_streams()
            from epic.cli.verbs import app

            try:
                app()
            except SystemExit:
                sys.stdout.flush()  # what fails at the very end of Python fails with a traceback
                raise
        finally:
            _ignore_ctrl_c()  # pools and temporary files are still to be put away when Python ends
    except (KeyboardInterrupt, SystemExit) as end:
        code = end.code if isinstance(end, SystemExit) else 130
        if code == 130:
            _end("interrupted", 130)
        sys.exit(code)
    except InputError as error:
        _end(str(error))
    except (MemoryError, RuntimeError) as error:  # the latter by torch, which has several words for it
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        _end("this takes more memory than there is: give fewer or smaller graphs, or smaller numbers")
    except BrokenPipeError:  # a reader such as head has seen enough
        drop_output()
        sys.exit(1)
    except OSError as error:
        drop_output()
        named = "" if error.filename is None else f" {error.filename}"
        _end(f"cannot read or write{named}: {error.strerror or error}")


def _end(sentence: str, code: int = 2) -> NoReturn:
    print(f"epic: {sentence}", file=sys.stderr)
    sys.exit(code)


def _take_ctrl_c_once() -> None:
    """Ignore all but the first Ctrl-C: a second one would interrupt the cleanup while the command ends."""
    if not _for_us(signal.default_int_handler):
        return
    signal.signal(signal.SIGINT, _interrupt)
    told = sys.unraisablehook

    def hook(lost: Any) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):  # it came in a __del__, which lets nothing out
            signal.signal(signal.SIGINT, _interrupt)
            _ctrl_c_later()
        else:
            told(lost)

    sys.unraisablehook = hook


def _interrupt(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            _ctrl_c_later()  # many modules take any error at import for a sign that something is missing
            return
        frame = frame.f_back
    _ignore_ctrl_c()
    raise KeyboardInterrupt


def _ctrl_c_later() -> None:
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.05)


def _ignore_ctrl_c() -> None:
    if _for_us(_interrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _for_us(handler: object) -> bool:
    """Return whether Ctrl-C is for this thread, and has this handler."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is handler
