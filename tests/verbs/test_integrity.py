"""Every file that assent writes can vouch for itself: nothing is changed without a word."""

import json
import multiprocessing
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.files.atomic import beside, folder_beside, together
from assent.files.checksums import check, read_checksums, sealed
from assent.files.facts import files_of, write_facts
from assent.files.places import COMPLETION, CONSIDERED, DECIDER, FACTS, FOLDERS, NAMING
from assent.files.recording import record, recorded, reseal
from assent.verbs.completions import keep_completion
from assent.verbs.deciders import load_decider
from assent.verbs.refit import refit
from trained_runs import learned


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def wrong(path, **options):
    return [check.name for check in assent.verify(path, **options) if check.state == "wrong"]


def test_what_nobody_touched_is_right(place):
    assert not wrong(place / "run") and not wrong(place / "benchmark")


@pytest.mark.parametrize(
    "name", ["model.safetensors", "entities.tsv", "relations.tsv", "trace.jsonl"]
)
def test_a_flipped_bit_in_a_run_is_refused(name, place):
    flipped(place / "run" / name)
    with pytest.raises(DataError):
        assent.load_run(place / "run")
    assert name in wrong(place / "run")


def test_another_setting_is_refused(place):
    path = place / "run" / "settings.toml"
    path.write_text(path.read_text().replace("seed = 0", "seed = 5"))
    with pytest.raises(DataError, match=r"settings\.toml: not as assent wrote it"):
        assent.load_run(place / "run")


def test_the_weights_of_another_run_are_refused(place):
    shutil.copy(place / "other" / "model.safetensors", place / "run" / "model.safetensors")
    with pytest.raises(DataError, match=r"model\.safetensors: not as assent wrote it"):
        assent.load_run(place / "run")


def test_a_decider_is_for_the_weights_that_it_was_found_with(place):
    shutil.copy(place / "other" / "decider.json", place / "run" / "decider.json")
    with pytest.raises(DataError, match="found for another model"):
        load_decider(place / "run", assent.load_run(place / "run"))
    assert wrong(place / "run") == ["decider.json"]


@pytest.mark.parametrize("change", [("rule", "judge"), ("objective", "f2")])
def test_a_changed_decider_is_refused(change, place):
    path = place / "run" / "decider.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), change[0]: change[1]}))
    with pytest.raises(DataError, match="decider"):
        load_decider(place / "run", assent.load_run(place / "run"))


@pytest.mark.parametrize("name", ["train.tsv", "test.tsv", "valid.tsv"])
@pytest.mark.parametrize("sums", [True, False])
def test_a_benchmark_cut_short_is_refused(name, sums, place):
    path = place / "benchmark" / name
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))
    if not sums:  # as older benchmarks are: the counts of the manifest tell
        (place / "benchmark" / "checksums.json").unlink()
    with pytest.raises(DataError, match="cut short or changed"):
        assent.load(place / "benchmark")
    assert "benchmark" in wrong(place / "benchmark")


def test_a_changed_label_of_a_benchmark_is_refused_and_may_be_renewed(place):
    path = place / "benchmark" / "manifest.json"
    path.write_text(path.read_text().replace('"removed"', '"removod"', 1))
    with pytest.raises(DataError, match=r"manifest\.json: not as assent wrote it"):
        assent.load(place / "benchmark")
    assert not wrong(place / "benchmark", renew=True)


def test_renewing_takes_what_fits_and_refuses_what_does_not(place):
    path = place / "run" / "settings.toml"
    path.write_text(path.read_text().replace("patience = 3", "patience = 4"))
    assert not wrong(place / "run", renew=True)
    assert assent.load_run(place / "run").settings.train.patience == 4
    path = place / "run" / "entities.tsv"
    path.write_text(path.read_text().replace("e1\n", "someone\n", 1))
    with pytest.raises(DataError, match="not the names of the benchmark"):
        assent.verify(place / "run", renew=True)


# Checkpoints


def vouchers(run):
    return sorted((run / "checkpoints").glob("*.json"))


def test_a_voucher_checks_itself(place):
    path = vouchers(place / "run")[-1]
    content = json.loads(path.read_text())
    content["position"]["best_epoch"] += 1
    path.write_text(json.dumps(content))
    assert f"checkpoints/{path.stem}" in wrong(place / "run")


def test_a_checkpoint_of_another_run_is_not_taken_up(place):
    shutil.rmtree(place / "run" / "checkpoints")
    shutil.copytree(place / "other" / "checkpoints", place / "run" / "checkpoints")
    with pytest.raises(DataError, match="no checkpoint is whole"):
        learned(place / "benchmark", place / "run", "train.seed=0")


def test_both_checkpoints_damaged_are_told_of_and_restart_begins_anew(place):
    before = (place / "run" / "model.safetensors").read_bytes()
    for path in (place / "run" / "checkpoints").glob("*.safetensors"):
        flipped(path)
    with pytest.raises(DataError, match=r"no checkpoint is whole \(2 damaged\).*--restart"):
        learned(place / "benchmark", place / "run", "train.seed=0")
    learned(place / "benchmark", place / "run", "train.seed=0", restart=True)
    assert (place / "run" / "model.safetensors").read_bytes() == before
    assert not wrong(place / "run")


def test_a_trace_cut_in_mid_line_heals_with_a_word(place):
    path = place / "run" / "trace.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(UserWarning, match=r"trace\.jsonl: cut in line"):
        run = assent.load_run(place / "run")
    assert run.trained.epochs == 3
    with pytest.warns(UserWarning, match="cut in line"):
        learned(place / "benchmark", place / "run", "train.seed=0")
    assert assent.load_run(place / "run").trained.epochs == 3


@pytest.mark.parametrize(
    "name",
    ["settings.toml", "model.safetensors", "entities.tsv", "trace.jsonl", "checksums.json"],
)
def test_a_pipe_in_place_of_a_file_does_not_hang(name, place):
    (place / "run" / name).unlink()
    os.mkfifo(place / "run" / name)
    with pytest.raises(DataError, match="is a pipe"):
        assent.load_run(place / "run")


# Killed commands


class KilledError(BaseException):
    """Stands for a process that ends without cleaning up."""


def test_a_folder_whose_replacing_was_killed_comes_back(place):
    (place / "benchmark").rename(place / ".benchmark.abcd1234.assent.old")
    (place / ".benchmark.abcd1234.assent.part").mkdir()
    assert len(assent.load(place / "benchmark").train)
    assert not list(place.glob(".benchmark*"))


def test_leftovers_of_killed_commands_are_removed_but_not_those_of_live_ones(tmp_path):
    (tmp_path / ".old.tsv.abcd1234.assent.part").mkdir()
    (tmp_path / ".hidden.part").write_text("of someone else")
    with folder_beside(tmp_path / "live", lambda _: False) as live:
        with beside(tmp_path / "new.tsv") as part:
            part.write_text("new")
        assert live.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hidden.part", "live", "new.tsv"]


def test_a_kill_while_names_are_written_leaves_no_folder(place, monkeypatch):
    def killed(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr("assent.files.runs.write_names", killed)
        with pytest.raises(KilledError):
            learned(place / "benchmark", place / "new")
    assert not (place / "new").exists()
    assert learned(place / "benchmark", place / "new").trained.epochs == 3


def test_files_are_on_the_disk_before_and_names_after_the_rename(tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("sync"), sync(handle))[1])
    monkeypatch.setattr(
        type(tmp_path), "replace", lambda *a: (events.append("rename"), replace(*a))[1]
    )
    with beside(tmp_path / "file") as part:
        part.write_text("x")
    assert events == ["sync", "rename", "sync"]


def test_a_folder_is_on_the_disk_with_all_its_files_before_it_has_its_name(tmp_path, monkeypatch):
    events = []
    sync, rename = os.fsync, type(tmp_path).rename

    def synced(handle):
        events.append(os.path.basename(os.readlink(f"/proc/self/fd/{handle}")))  # noqa: PTH115, PTH119
        sync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(
        type(tmp_path), "rename", lambda *a: (events.append("rename"), rename(*a))[1]
    )
    with folder_beside(tmp_path / "folder", lambda _: False) as part:
        (part / "within").mkdir()
        for name in ("a", "within/b"):
            (part / name).write_text("x")
    before, after = events[: events.index("rename")], events[events.index("rename") + 1 :]
    assert {"a", "within", "b"} < {*before} and after == [tmp_path.name]


# What later commands write


@pytest.fixture
def completed(place, say):
    assert say("evaluate", place / "run")[0] == 0
    code, _, err = say("complete", place / "run", "--out", place / "new.tsv")
    assert code == 0, err
    return place


def unchecked(path):
    return [check.name for check in assent.verify(path) if check.state == "unchecked"]


def test_what_later_commands_write_is_checked_too(completed):
    assert not wrong(completed / "run") and not unchecked(completed / "run")
    for name, told in (
        ("metrics.json", "metrics.json"),
        ("facts.jsonl", "completion.json"),
        ("completion.json", "completion.json"),
    ):
        before = (completed / "run" / name).read_bytes()
        flipped(completed / "run" / name)
        assert wrong(completed / "run") == [told]
        (completed / "run" / name).write_bytes(before)
    assert not wrong(completed / "run")


def test_the_rules_that_a_run_shows_are_checked(place):
    assent.train(place / "benchmark", "rules", out=place / "rules")
    assert not wrong(place / "rules") and not unchecked(place / "rules")
    flipped(place / "rules" / "rules.tsv")
    assert wrong(place / "rules") == ["rules.tsv"]


def test_a_file_of_facts_is_as_the_run_beside_it_wrote_it(completed):
    (check,) = assent.verify(completed / "new.tsv")
    assert check.state == "right" and check.detail == "as `assent complete run` wrote it"
    with (completed / "new.tsv").open("a") as file:
        file.write("a\tb\tc\t0.9\n")
    assert wrong(completed / "new.tsv") == ["new.tsv"]
    (completed / "mine.tsv").write_text("a\tb\tc\n")
    (check,) = assent.verify(completed / "mine.tsv")
    assert check == ("mine.tsv", "right", "1 facts can be read; no run beside it has its checksum")


def test_a_completion_that_was_changed_on_purpose_is_renewed(completed):
    path = completed / "run" / "facts.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    (completed / "run" / "metrics.json").write_text("{}\n")
    assert wrong(completed / "run") == ["metrics.json", "completion.json"]
    assert not wrong(completed / "run", renew=True)
    path.write_text("nonsense\n")
    with pytest.raises(DataError):
        assent.verify(completed / "run", renew=True)


# What a completion decided by


def states(path):
    return {check.name: check.state for check in assent.verify(path)}


def kept_by_precision(run, precision=0.02):
    assent.save(assent.complete(run, precision, refit=False, progress=False), run.folder, of=run)


def notes_of(run, precision=None):
    names = run.benchmark.vocabulary
    asked = names.entities[0], names.relations[0]
    return assent.ask(run, *asked, precision=precision, progress=False).notes


def test_a_later_completion_takes_away_what_the_earlier_one_decided_by(completed):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    assert "newest completion" in notes_of(run)[0]
    assent.save(assent.complete(run, progress=False), run.folder, of=run)
    assert not (run.folder / CONSIDERED).exists()
    assert "the run's decider decided" in notes_of(run)[0]
    assert not wrong(run.folder)


def test_what_an_older_completion_decided_by_is_not_the_newest_one_s(completed):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    earlier = (run.folder / CONSIDERED).read_bytes()
    for precision in (None, 0.03):
        assent.save(
            assent.complete(run, precision, refit=False, progress=False), run.folder, of=run
        )
        (run.folder / CONSIDERED).write_bytes(earlier)  # as it lay there in older versions
        assert wrong(run.folder) == [CONSIDERED]
        for verb in (lambda: notes_of(run), lambda: assent.diff(run.folder, run.folder)):
            with pytest.raises(DataError, match=r"considered\.npz: of another completion"):
                verb()


@pytest.mark.parametrize("is_completed", [True, False])
def test_what_the_completion_of_another_run_decided_by_is_wrong(is_completed, completed):
    run, other = (assent.load_run(completed / name) for name in ("run", "other"))
    kept_by_precision(other)
    if is_completed:
        kept_by_precision(run)
    else:
        (run.folder / COMPLETION).unlink()
    shutil.copy(other.folder / CONSIDERED, run.folder / CONSIDERED)
    (found,) = [check for check in assent.verify(run.folder) if check.state == "wrong"]
    assert found.name == CONSIDERED and "of another completion" in found.detail


def test_what_the_completion_decided_by_is_missed_and_asked_for_anew(completed):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    assert states(run.folder)[CONSIDERED] == "right"
    (run.folder / CONSIDERED).unlink()
    assert states(run.folder)[CONSIDERED] == "missing"
    gone = f"{CONSIDERED} is gone, by which the newest completion decided"
    assert "the run's decider decided" in notes_of(run)[0] and gone in notes_of(run)
    for how in ("asked now", "asked before"):
        notes = notes_of(run, 0.02)
        assert how in notes[0] and gone in notes
    assert states(run.folder)[CONSIDERED] == "right"  # what `ask` keeps for itself
    (run.folder / DECIDER).unlink()
    with pytest.raises(ConfigError, match=r"give a precision.*is gone"):
        notes_of(run)


def test_a_record_from_before_it_named_what_it_decided_by_still_does(completed):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    path = run.folder / COMPLETION
    document = json.loads(path.read_text())
    del document["considered"]
    path.write_text(json.dumps(document))
    reseal(path)
    assert "newest completion" in notes_of(run)[0] and not wrong(run.folder)


@pytest.mark.parametrize("last", [COMPLETION, FACTS, CONSIDERED])
def test_a_completion_killed_while_it_is_kept_leaves_nothing_wrong(last, completed, monkeypatch):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    found = assent.complete(run, 0.03, refit=False, progress=False)
    replace = type(completed).replace

    def killed(part, target):
        if target == (run.folder / last).resolve():
            raise KilledError
        return replace(part, target)

    with monkeypatch.context() as patch:
        patch.setattr(type(completed), "replace", killed)
        with pytest.raises(KilledError):
            assent.save(found, run.folder, of=run)
    assert not wrong(run.folder) and "missing" not in states(run.folder).values()
    assert "the run's decider decided" in notes_of(run)[0]


@pytest.mark.parametrize("name", [COMPLETION, FACTS])
def test_diff_and_ask_check_the_completion_that_they_read(name, completed):
    run = assent.load_run(completed / "run")
    kept_by_precision(run)
    other = assent.load_run(completed / "other")
    kept_by_precision(other)
    assert not assent.diff(run.folder, run.folder).facts
    if name == FACTS:
        lines = (run.folder / FACTS).read_text().splitlines(keepends=True)
        (run.folder / FACTS).write_text("".join(lines[3:]))
    else:
        shutil.copy(other.folder / name, run.folder / name)
    for verb in (lambda: notes_of(run), lambda: assent.diff(other.folder, run.folder)):
        with pytest.raises(DataError, match=r"facts\.jsonl: not as assent wrote it"):
            verb()


# The final fit


def test_the_final_fit_is_checked_as_a_run(place):
    run = assent.load_run(place / "run")
    refit(run, progress=False)
    names = {"refit/run", "refit/model.safetensors", "refit/settings.toml"}
    assert names <= {*states(place / "run")} and not wrong(place / "run")
    settings = place / "run" / "refit" / "settings.toml"
    right = settings.read_bytes()
    settings.write_bytes(right.replace(b"label_smoothing", b"label_smnothing"))
    assert wrong(place / "run") == ["refit/settings.toml", "refit/run"]
    with pytest.raises(ConfigError, match=r"refit/settings\.toml: unknown setting train\."):
        refit(run, progress=False)
    settings.write_bytes(right)
    (settings.parent / "model.safetensors").unlink()
    assert states(place / "run")["refit/model.safetensors"] == "missing"
    flipped(place / "run" / "model.safetensors")
    settings.unlink()
    assert states(place / "run")["refit/settings.toml"] == "missing"


# What must not be replaced, lost or taken for right


@pytest.mark.parametrize(
    ("folder", "name"),
    [("benchmark", "manifest.json"), ("run", "settings.toml"), ("run", "trace.jsonl")],
)
def test_a_lost_file_is_missing_though_it_marked_the_folder(folder, name, place, say):
    (place / folder / name).unlink()
    assert states(place / folder)[name] == "missing"
    code, printed, _ = say("verify", place / folder)
    assert code == 1 and f"missing   {name}" in printed


def test_a_damaged_checkpoint_is_found_be_it_the_newest_or_the_one_before(place):
    for path in sorted((place / "run" / "checkpoints").iterdir()):
        before = path.read_bytes()
        flipped(path)
        assert wrong(place / "run") == [f"checkpoints/{path.stem}"]
        path.write_bytes(before)
    vouchers(place / "run")[0].unlink()
    assert unchecked(place / "run") == [f"checkpoints/{min(weights(place / 'run'))}"]


def weights(run):
    return [path.stem for path in (run / "checkpoints").glob("*.safetensors")]


@pytest.mark.parametrize(
    "name",
    ["checkpoints", "decider.json", "metrics.json", "completion.json", "considered.npz", "lost"],
)
def test_renewing_takes_nothing_where_a_file_is_damaged(name, completed):
    run = completed / "run"
    settings = run / "settings.toml"
    settings.write_text(settings.read_text().replace("patience = 3", "patience = 4"))
    if name == "lost":
        (run / "metrics.json").unlink()
    elif name == "decider.json":
        shutil.copy(completed / "other" / name, run / name)  # of other weights
    else:
        path = vouchers(run)[0] if name == "checkpoints" else run / name
        path.write_bytes(b"damaged")
    before = {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
    with pytest.raises(DataError, match="nothing was renewed"):
        assent.verify(run, renew=True)
    assert before == {path: path.read_bytes() for path in run.iterdir() if path.is_file()}
    with pytest.raises(DataError, match=r"settings\.toml: not as assent wrote it"):
        assent.load_run(run)


def test_no_writer_replaces_a_file_of_a_run_or_benchmark(completed):
    run, benchmark = completed / "run", completed / "benchmark"
    kb = toy.crowd(0, num_entities=5, num_relations=2, facts_each=2)
    facts = assent.load(run / "completion.json")
    (completed / "link.tsv").symlink_to(run / "entities.tsv")
    writers = {
        run / "entities.tsv": lambda path: assent.write(kb, path),
        benchmark / "train.tsv": lambda path: assent.save(kb, path, overwrite=True),
        completed / "link.tsv": lambda path: assent.write(kb, path),
        run / "facts.jsonl": lambda path: assent.save(facts, path, overwrite=True),
        run / "settings.toml": lambda path: assent.report([run], path, progress=False),
        run / "decider.json": lambda path: assent.report([run], path, progress=False),
        run / "checksums.json": lambda path: assent.report([run], path, progress=False),
    }
    for path, write in writers.items():
        before = path.read_bytes()
        with pytest.raises(DataError, match="is a file of the run or benchmark"):
            write(path)
        assert path.read_bytes() == before
    assert not wrong(run) and not wrong(benchmark)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_writer_puts_a_file_into_a_folder_that_is_kept_within_a_run(completed, folder):
    """Whatever its name is, and however deep: assent may want that very name."""
    facts = assent.load(completed / "run" / "completion.json")
    kept = completed / "run" / folder
    (completed / "link").symlink_to(kept)
    for path in (
        kept / "new.jsonl",
        kept / "checkpoints" / "new.jsonl",
        completed / "link" / "x.jsonl",
    ):
        with pytest.raises(DataError, match="kept by assent for the run alone"):
            assent.save(facts, path, overwrite=True)
        assert not path.exists()
    (completed / folder).mkdir()  # a folder of this name elsewhere is the user's
    assent.save(facts, completed / folder / "new.jsonl")


def test_a_command_killed_before_its_new_file_has_a_name_leaves_nothing_wrong(place, monkeypatch):
    replace = type(place).replace

    def killed(part, target):
        if target.name == "metrics.json":
            raise KilledError
        return replace(part, target)

    monkeypatch.setattr(type(place), "replace", killed)
    with pytest.raises(KilledError), recorded(place / "run" / "metrics.json") as part:
        part.write_text("{}")
    assert not wrong(place / "run") and not wrong(place / "run", renew=True)


@pytest.mark.parametrize("name", ["x" * 5000, "../decider.json", "/dev/zero", "", ".", "\ud800"])
def test_checksums_of_what_is_no_file_of_the_folder_are_refused(name, place):
    path = place / "run" / "checksums.json"
    document = json.loads(path.read_text())
    document.pop("checksum")
    document["files"][name] = ["0" * 64]
    path.write_text(json.dumps(sealed(document)))
    with pytest.raises(DataError, match="is no name of a file in this folder"):
        assent.load_run(place / "run")


def recording(folder, name, times):
    for number in range(times):
        with recorded(folder / name) as part:
            part.write_text(f"{name} {number}\n")


def test_commands_that_record_files_at_once_lose_no_checksum(tmp_path):
    names = [f"{letter}.txt" for letter in "abcd"]
    context = multiprocessing.get_context("fork")
    (tmp_path / ".checksums.lock").touch()  # of a process that was killed
    processes = [context.Process(target=recording, args=(tmp_path, n, 30)) for n in names]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes):
        check(tmp_path)  # what is read while others write is right, too
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert sorted(read_checksums(tmp_path)) == names
    check(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "checksums.json"])


@pytest.mark.parametrize("stated", ["x" * 5000, "a/../" * 3000, "\\u0000"])
def test_a_path_that_leads_nowhere_is_refused_in_one_line(stated, place):
    settings = place / "run" / "settings.toml"
    settings.write_text(settings.read_text().replace("../benchmark", stated))
    record(settings)
    with pytest.raises(DataError, match=r"benchmark\.path can be no path"):
        assent.load_run(place / "run")


@pytest.mark.parametrize("hint", ["x" * 5000, "\0"])
def test_a_hint_that_leads_nowhere_is_no_hint(hint, place):
    (place / "run" / "benchmark.path").write_text(hint)
    (place / "benchmark").rename(place / "elsewhere")
    assert assent.load_run(place / "run").folder == place / "run"


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".parquet", ".nt", ".ttl", ".trig", ".kgx"])
def test_a_file_of_facts_is_right_wherever_it_lies_and_whatever_was_completed_since(
    completed, suffix
):
    run = assent.load_run(completed / "run")
    found = assent.complete(run)
    elsewhere = completed / "elsewhere"
    elsewhere.mkdir()

    def written(to, found=found):
        with together(run.folder / NAMING) as files:
            write_facts(to, found.facts, beside=files.beside)
            keep_completion(found, run, run.folder, files)
        return files_of(to)[-1]

    new = written(completed / f"new{suffix}")
    assert len(found.facts) and f"as `assent complete {run.folder.name}` wrote it" in told(new)
    copy = shutil.copy(new, elsewhere / new.name)
    assert "can be read" in told(copy)
    fewer = replace(found, facts=found.facts.take(np.arange(3)))
    other = written(elsewhere / f"new{suffix}", fewer)  # of the same name, in another place
    assert "can be read" in told(new) and "can be read" in told(other)
    (third,) = files_of(completed / f"third{suffix}")[-1:]
    shutil.move(other, third)
    assert "wrote it" in told(third)


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_a_damaged_file_of_facts_is_told_of_by_its_line_where_no_run_knows_it(completed, suffix):
    assent.save(assent.load(completed / "run" / COMPLETION), path := completed / f"x{suffix}")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[3][:40], *lines[4:]]))
    (check,) = assent.verify(path)
    assert check.state == "wrong" and f"{path}:4:" in check.detail


def told(path):
    (check,) = assent.verify(path)
    assert check.state == "right", check
    return check.detail
