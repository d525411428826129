"""Disks that are full: an error with words, nothing half-written, and all well when there is room again."""
import contextlib, re, shutil, subprocess

from corners.small_net import compiled_run, run_command, small_net
from corners.training import changed_files, train_command
from harness.program import call, failure


@contextlib.contextmanager
def small_disk(folder, size):
    """A tmpfs of this size on a folder; gives a function that makes it larger."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield lambda larger: subprocess.run(
            ["mount", "-o", f"remount,size={larger}", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)


def refusal_problem(code, text):
    """A full disk is to end a command with exit 1 or 2 and some words."""
    if code in (1, 2) and text:
        return ""
    return failure(code, text) or "exit 0 although the disk is full"


def fill_during_training(context, report, data, disk):
    whole = context.new_folder()
    call(train_command(context, data, whole, 3, 1), 120)
    for size in ("400k", "1000k"):  # the first checkpoint; the second
        with small_disk(disk, size) as enlarge:
            code, _, text = call(train_command(context, data, disk, 3, 1), 120)
            report.check(f"training on a disk of {size}", refusal_problem(code, text))
            enlarge("32m")
            code, _, text = call(train_command(context, data, disk, 3, 1) + ["--resume"], 120)
            changed = changed_files(whole, disk)
            report.check(f"training goes on after a disk of {size}",
                         f"{code}, other bits: {changed} {text[-120:]}" if changed else "")


def write_onto_full_disk(context, report, folder, disk):
    model = folder / "model.onnx"
    with small_disk(disk, "32k"):
        filler = disk / "filler"
        with contextlib.suppress(OSError):
            filler.write_bytes(bytes(1 << 20))
        for name, command in (
                ("run", run_command(context, folder, disk / "out")),
                ("convert", [context.saltern, "convert", model, "-o", disk / "c.onnx"]),
                ("compile", [context.saltern, "compile", model, "-o", disk / "c", "--name", "m"])):
            code, _, text = call(command, SALTERN_CACHE=str(folder / "cache"))
            report.check(f"{name} onto a full disk", refusal_problem(code, text))
            left = [p.name for p in disk.rglob("*") if p.is_file() and p != filler]
            report.check(f"no file of {name} is left", f"{left}" if left else "")
            for path in disk.iterdir():
                if path != filler:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def fill_cache(context, report, case, folder, disk):
    with small_disk(disk, "64k") as enlarge:
        outcome = compiled_run(context, case, folder, disk / "cache")
        good = outcome == "right" or re.match("refused: [12] .", outcome)
        report.check("a cache on a full disk", "" if good else outcome)
        enlarge("256m")
        outcome = compiled_run(context, case, folder, disk / "cache")
        report.check("a cache that has room again", "" if outcome == "right" else outcome)


def fill_disks(context, report, data):
    case, disk = small_net(), context.new_folder()
    folder = case.write(context.new_folder())
    fill_during_training(context, report, data, disk)
    write_onto_full_disk(context, report, folder, disk)
    fill_cache(context, report, case, folder, disk)
