"""A command in a process of its own, which starts at once and may be killed."""

import multiprocessing
import os
import sys

from assent.cli import main

APART = multiprocessing.get_context("forkserver")  # it loads assent once, for all of them
APART.set_forkserver_preload(["said_apart", "assent.verbs.train"])


def _said(words):
    sys.argv = ["assent", *words]
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    main()


def said_apart(*words):
    process = APART.Process(target=_said, args=([*map(str, words)],), daemon=True)
    process.start()
    return process
