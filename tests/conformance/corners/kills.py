"""kill -9 during training and during compiled runs."""
import concurrent.futures, os, random, shutil, subprocess, time

from corners.small_net import compiled_run, run_command, small_net
from corners.training import changed_files, train_command
from harness.program import call, end, failure, start


def kill_training(context, report, data):
    """Half of the kills are aimed at moments when a file is being written."""
    chance, epochs = random.Random(5), max(20, 2 * context.kills)
    whole, killed = context.new_folder(), context.new_folder()
    code, took, text = call(train_command(context, data, whole, epochs, 1), 280)
    report.check("training undisturbed", failure(code, text))
    epoch, kills, bad_end = took / epochs, 0, 0
    while kills < context.kills and not bad_end:
        threads = chance.choice([1, 2, 3])
        process = start(train_command(context, data, killed, epochs, threads) + ["--resume"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kills % 2:
            time.sleep(chance.uniform(0.02, 1.5 * epoch))
        else:
            late = time.monotonic() + 2 * epoch
            while time.monotonic() < late and not any(killed.rglob("*.writing*")):
                pass
        if process.poll() is None:
            end(process)
            kills += 1
        elif process.returncode == 0:
            break
        else:
            bad_end = process.returncode
    code, _, text = call(train_command(context, data, killed, epochs, 2) + ["--resume"], 280)
    report.check(f"training killed {kills} times", f"resuming ended with {bad_end}" if bad_end else failure(code, text))
    changed = changed_files(whole, killed)
    report.check("the same bits after kills", f"other bits: {changed}" if changed else "")
    left = [p.name for p in killed.rglob("*") if ".writing" in p.name]
    report.check("left-over files of training", f"{left}" if left else "")


def kill_compiled_runs(context, report):
    case, chance = small_net(), random.Random(2)
    folder, temporary = case.write(context.new_folder()), context.new_folder()
    cache = folder / "cache"
    environment = dict(os.environ, SALTERN_CACHE=str(cache), TMPDIR=str(temporary))

    def problem_of_run(_=None):
        outcome = compiled_run(context, case, folder, cache, TMPDIR=str(temporary))
        return "" if outcome == "right" else outcome

    for _ in range(12):
        process = start(run_command(context, folder, context.new_folder(), "--compiled"), stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, env=environment)
        time.sleep(chance.uniform(0.03, 1.2))
        end(process)
        for entry in cache.glob("*/*"):  # so that the next one compiles again
            if ".making" not in entry.name:
                shutil.rmtree(entry, ignore_errors=True)
    report.check("a compiled run after 12 killed ones", problem_of_run())
    for where, left in (("files in the cache", list(cache.rglob("*.making*"))),
                        ("temporary files", list(temporary.iterdir()))):
        report.check(f"left-over {where}", f"{len(left)}, as {left[0].name}" if left else "")
    for attempt in range(3):
        shutil.rmtree(cache, ignore_errors=True)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            problems = pool.map(problem_of_run, range(3))
        report.check(f"three at once with an empty cache, {attempt + 1}", "; ".join(filter(None, problems)))
