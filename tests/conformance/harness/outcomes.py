"""What came of many tests: kept, reported, and compared with those that ever passed."""
import collections, fnmatch, sys
from pathlib import Path


class Outcomes:
    def __init__(self):
        self.of, self.why = {}, {}

    def add(self, test, outcome, why):
        if self.of.get(test, "pass") == "pass":   # a test of several data sets passes all of them
            self.of[test], self.why[test] = outcome, why

    @staticmethod
    def add_options(parser):
        for name in ["--passing", "--write", "--report", "--only"]:
            parser.add_argument(name, type=Path)

    @staticmethod
    def only(options):
        """Which tests are wanted."""
        listed = set(options.only.read_text().split()) if options.only else None
        return lambda test: fnmatch.fnmatch(test, options.match) and (listed is None or test in listed)

    def conclude(self, options):
        """Prints and writes what the options ask for; ends the program where a test is lost that is to pass."""
        counts = collections.Counter(self.of.values())
        print(f"{counts['pass']} of {len(self.of)} pass;",
              ", ".join(f"{n} {k}" for k, n in sorted(counts.items()) if k != "pass"))
        if options.write:
            options.write.write_text("".join(t + "\n" for t in sorted(self.of) if self.of[t] == "pass"))
        if options.report:
            options.report.write_text("".join(f"{t}\t{self.of[t]}\t{self.why[t]}\n"
                                              for t in sorted(self.of) if self.of[t] != "pass"))
        if options.passing:
            expected = list(filter(self.only(options), options.passing.read_text().split()))
            lost = [t for t in expected if self.of.get(t) != "pass"]
            for test in lost:
                print(f"lost: {test}: {self.of.get(test, 'is not in the suite')}: {self.why.get(test, '')}")
            sys.exit(1 if lost or not expected else 0)
