"""A checkpoint is complete or absent, and checked when it is read."""

import errno
import json

import pytest
import torch

from assent.errors import DataError
from assent.files.checksums import sealed
from assent.training import checkpoints
from assent.training.checkpoints import KEPT, Position, newest_checkpoint, save_checkpoint


def save(folder, epoch, step=0):
    tensors = {"weights": torch.full((3, 2), float(epoch)), "count": torch.tensor(step)}
    save_checkpoint(folder, Position(epoch=epoch, step=step, scores=[0.1, 0.2]), tensors)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_was_saved_last_is_what_is_found(tmp_path):
    save(tmp_path, 3)
    save(tmp_path, 3, step=17)
    position, tensors, complaints = newest_checkpoint(tmp_path)
    assert position == Position(epoch=3, step=17, scores=[0.1, 0.2])
    assert tensors["weights"].eq(3).all() and tensors["count"] == 17
    assert complaints == []


def test_only_the_newest_are_kept(tmp_path):
    for epoch in range(5):
        save(tmp_path, epoch)
    assert len(names(tmp_path)) == 2 * KEPT
    assert newest_checkpoint(tmp_path)[0].epoch == 4


def test_nothing_is_found_where_nothing_is(tmp_path):
    assert newest_checkpoint(tmp_path) is None
    assert newest_checkpoint(tmp_path / "absent") is None


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "voucher"])
def test_a_damaged_one_is_refused_by_name_and_the_one_before_it_is_used(tmp_path, damage):
    save(tmp_path, 1)
    save(tmp_path, 2)
    weights = sorted(tmp_path.glob("*.safetensors"))[-1]
    content = bytearray(weights.read_bytes())
    if damage == "cut":
        weights.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        content[-1] ^= 1
        weights.write_bytes(content)
    elif damage == "gone":
        weights.unlink()
    else:
        weights.with_suffix(".json").write_text("{", encoding="utf-8")
    position, tensors, complaints = newest_checkpoint(tmp_path)
    assert position.epoch == 1 and tensors["weights"].eq(1).all()
    assert len(complaints) == 1 and str(weights) in complaints[0]


def test_weights_without_their_voucher_do_not_count(tmp_path):
    save(tmp_path, 1)
    save(tmp_path, 2)
    sorted(tmp_path.glob("*.json"))[-1].unlink()  # killed between the two files
    assert newest_checkpoint(tmp_path)[0].epoch == 1


def test_a_full_disk_leaves_the_checkpoint_before_and_no_rubbish(tmp_path, monkeypatch):
    save(tmp_path, 1)
    before = names(tmp_path)

    def full(tensors, path):
        path.write_bytes(b"half of")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_file", full)
    with pytest.raises(DataError, match="No space left on device; the checkpoint before it"):
        save(tmp_path, 2)
    assert names(tmp_path) == before
    assert newest_checkpoint(tmp_path)[0].epoch == 1


def test_weights_that_are_no_numbers_do_not_count(tmp_path):
    save(tmp_path, 1)
    tensors = {"weights": torch.tensor([1.0, float("nan")])}
    save_checkpoint(tmp_path, Position(epoch=2), tensors)
    position, _, complaints = newest_checkpoint(tmp_path)
    assert position.epoch == 1 and "weights has numbers that are not" in complaints[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("processor", []), ("spent", "1"), ("scores", 0.5), ("scores", [None]), ("parts", [1.0]),
        ("parts", {"steps": "x"}), ("best_epoch", 1.5), ("trace_bytes", -1), ("loss", True),
        ("scores", [10**400]), ("trace_bytes", 2**63),
        pytest.param("loss", 10**400, id="a loss that fits no float"),
        pytest.param("spent", -(10**400), id="a time that fits no float"),
    ],
)  # fmt: skip
def test_a_voucher_with_a_value_that_no_training_has_does_not_count(name, value, tmp_path):
    save(tmp_path, 1)
    save(tmp_path, 2)
    voucher = sorted(tmp_path.glob("*.json"))[-1]
    content = json.loads(voucher.read_text())
    content.pop("checksum")
    content["position"][name] = value
    voucher.write_text(json.dumps(sealed(content)))
    position, _, complaints = newest_checkpoint(tmp_path)
    assert position.epoch == 1 and f"({name} is " in complaints[0]


@pytest.mark.parametrize("content", ["text", 3, [1], None, True, 0.5])
def test_a_voucher_of_the_wrong_kind_does_not_count(content, tmp_path):
    save_checkpoint(tmp_path, Position(), {"model/x": torch.zeros(2)})
    (voucher,) = tmp_path.glob("*.json")
    voucher.write_text(json.dumps(content))
    with pytest.raises(DataError, match="no checkpoint is whole"):
        newest_checkpoint(tmp_path)


def test_a_voucher_with_a_number_of_5000_digits_does_not_count(tmp_path):
    save(tmp_path, 1)
    save(tmp_path, 2)
    voucher = sorted(tmp_path.glob("*.json"))[-1]
    voucher.write_text(voucher.read_text().replace('"loss": 0.0', f'"loss": {"9" * 5000}'))
    position, _, complaints = newest_checkpoint(tmp_path)
    assert position.epoch == 1 and "a number of more than 4300 digits" in complaints[0]
