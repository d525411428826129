"""What sections have to do with: a context to run things in, and a report of what is good."""
import concurrent.futures, itertools, random
from pathlib import Path

from harness.progress import Progress


class Context:
    """The program under test, and folders to use it in."""

    def __init__(self, options, scratch, most=None):
        self.saltern, self.jobs, self.kills = options.saltern, options.jobs, options.kills
        self.trainer, self.scratch, self.most = options.trainer, Path(scratch), most
        self.numbers = itertools.count()

    def new_folder(self):
        folder = self.scratch / str(next(self.numbers))
        folder.mkdir()
        return folder

    def some(self, cases):
        """All of a list or dict, or at most as many as this section is to try: the same ones every time."""
        if self.most is None or len(cases) <= self.most:
            return cases
        entries = list(cases.items() if isinstance(cases, dict) else cases)
        return type(cases)(entries[i] for i in sorted(random.Random(0).sample(range(len(entries)), self.most)))

    def parallel(self, function, items):
        """The results in order, each as soon as it is there."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(function, items)

    def compile_command(self, model):
        return [self.saltern, "compile", model, "-o", self.new_folder(), "--name", "m", "--no-cache", "--jobs", "1"]


class Report:
    """Counts cases, and prints those that are bad."""

    def __init__(self, section):
        self.section, self.good, self.total, self.progress = section, 0, 0, Progress()

    def check(self, name, problem):
        """A case; an empty problem is good."""
        self.total += 1
        self.good += not problem
        self.progress.say([f"  {name}: {problem}"] if problem else [], f"{self.section}: {self.total} cases")

    def note(self, text):
        self.progress.say([f"  ({text})"])

    def finish(self):
        self.progress.say([f"{self.section}: {self.good} of {self.total} good"])
        return self.good == self.total
