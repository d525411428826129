"""kill -9 and full disks: bit-identical training, no left-over files."""
import os
from pathlib import Path

from corners.full_disks import fill_disks
from corners.kills import kill_compiled_runs, kill_training
from corners.training import check_threads, write_pictures


def check(context, report):
    kill_compiled_runs(context, report)
    if not Path(context.trainer).exists():
        report.note(f"training and full disks: not tried, as there is no {context.trainer}")
        return
    data = write_pictures(context.new_folder())
    kill_training(context, report, data)
    check_threads(context, report, data)
    if os.geteuid() == 0:
        fill_disks(context, report, data)
    else:
        report.note("full disks: not tried, as only root mounts one")
