"""Lines on standard output, and on a terminal below them how far things are."""
import sys


class Progress:
    def __init__(self):
        self.shown = sys.stderr.isatty()

    def say(self, lines, state=""):
        """Prints lines, and how far things are now."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        for line in lines:
            print(line, flush=True)
        if self.shown:
            print(state, end="", file=sys.stderr, flush=True)
