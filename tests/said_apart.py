"""A command in a process of its own, which starts at once and may be killed."""

import multiprocessing
import os
import sys
import tempfile

from assent.cli import main
from campaign.forking import CHANGES, dying

APART = multiprocessing.get_context("forkserver")  # it loads assent once, for all of them
APART.set_forkserver_preload(["said_apart", "assent.verbs.train"])


def _said(words, dies_at, changes, temporary):
    tempfile.tempdir = temporary
    if dies_at:
        dying(dies_at, changes)()
    sys.argv = ["assent", *words]
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    main()


def said_apart(*words, dies_at=0, changes=CHANGES, temporary=None):
    """With `dies_at`, it is killed just before its so-manieth of these changes of the disk.

    `temporary` is the folder for temporary files.
    """
    process = APART.Process(
        target=_said, args=([*map(str, words)], dies_at, changes, temporary), daemon=True
    )
    process.start()
    return process
