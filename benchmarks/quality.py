"""How long a training took until F1 on valid was this high, by its trace.

assent train fb14k-qaq --model complex --out RUN && python benchmarks/quality.py RUN
"""

import argparse
import json
from pathlib import Path

MARKS = (0.30, 0.35)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    trace = (parser.parse_args().run / "trace.jsonl").read_text(encoding="utf-8")
    events = [json.loads(line) for line in trace.splitlines()]
    seconds, marks = 0.0, list(MARKS)
    for event in events:
        if event["event"] == "epoch":
            seconds += event["seconds"]
        elif event["event"] == "evaluation":
            print(f"epoch {event['epoch']:3}  {seconds / 60:6.1f} min  F1 {event['score']:.4f}")
            while marks and event["score"] >= marks[0]:
                print(f"  {marks.pop(0):.2f} reached after {seconds / 60:.1f} minutes of steps")
    for mark in marks:
        print(f"  {mark:.2f} not reached")


if __name__ == "__main__":
    main()
