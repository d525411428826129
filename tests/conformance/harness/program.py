"""Runs of the program under test: with a bound on its time and memory, one command or a batch of models.

A batch is `saltern run-batch LIST`, a line "model<TAB>inputs<TAB>outputs" for each model, done in order. After each the
program writes its exit code to STATUS in the folder of outputs, and what there is to say to log. Where it ends or
stalls too early, the first model without STATUS is to blame, and another process does the rest.
"""
import contextlib, os, resource, shutil, signal, subprocess, time
from pathlib import Path

MEMORY_LIMIT = 12 << 30
INVALID_MODEL, UNSUPPORTED = 2, 3  # exit codes; 1 is any other error


def start(command, **options):
    """A process group of its own, so that all of it can be ended, with limited memory."""
    process = subprocess.Popen([str(c) for c in command], start_new_session=True, **options)
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    return process


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def call(command, seconds=60, **environment):
    """(exit code, or how it ended without one; seconds; output and errors)."""
    began = time.monotonic()
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                    env=dict(os.environ, **environment))
    try:
        text, _ = process.communicate(timeout=seconds)
        code = process.returncode if process.returncode >= 0 else f"signal {-process.returncode}"
    except subprocess.TimeoutExpired:
        end(process)
        text, _ = process.communicate()
        code = f"not done within {seconds} s"
    return code, time.monotonic() - began, " ".join(text.split())


def failure(code, text):
    """"" where a call, or a model of a batch, went well; else how it ended."""
    return "" if code == 0 else f"{f'exit {code}' if isinstance(code, int) else code}: {text[:160]}"


def run_batch(program, folders, cache=None, compiled=False, threads=1, seconds=30):
    """{folder: exit code, or "hang", or "crash, signal N"} of folders with model.onnx and in/; outputs are in out/."""
    results, todo = {}, [Path(f) for f in folders]
    options = ["--threads", str(threads)] + (["--compiled"] if compiled else [])
    environment = dict(os.environ, **({"SALTERN_CACHE": str(cache)} if cache else {}))
    while todo:
        for folder in todo:
            shutil.rmtree(folder / "out", ignore_errors=True)
            (folder / "out").mkdir()
        listing = todo[0] / "list.txt"
        listing.write_text("".join(f"{f}/model.onnx\t{f}/in\t{f}/out\n" for f in todo))
        process = start([program, "run-batch", listing] + options, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, env=environment)
        done, hangs = watch_batch(process, todo, seconds)
        for folder in todo[:done]:
            results[folder] = int((folder / "out" / "STATUS").read_text().strip() or 1)
        if done < len(todo):
            code = process.returncode
            ended = f"signal {-code}" if code < 0 else f"exit {code} without STATUS"
            results[todo[done]] = "hang" if hangs else f"crash, {ended}"
        todo = todo[done + 1:]
    return results


def watch_batch(process, folders, seconds):
    """Waits; (how many were done, whether the next one was ended for taking too long)."""
    done, since = 0, time.monotonic()
    while True:
        ended = process.poll() is not None
        while done < len(folders) and (folders[done] / "out" / "STATUS").exists():
            done, since = done + 1, time.monotonic()
        if ended:
            return done, False
        if done < len(folders) and time.monotonic() - since > seconds:
            end(process)
            return done, True
        time.sleep(0.01)


def message_of(folder):
    log = Path(folder) / "out" / "log"
    text = log.read_text(errors="replace") if log.exists() else ""
    return " ".join(text.split())[:160]
