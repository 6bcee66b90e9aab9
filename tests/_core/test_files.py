"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from veridical._core.runtime.files import write_whole


def test_the_text_is_written_as_utf8(tmp_path):
    write_whole(tmp_path / "out.txt", "Bröcker\nK ≥ 3\n")
    assert (tmp_path / "out.txt").read_bytes() == "Bröcker\nK ≥ 3\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_path_may_be_text(tmp_path):
    write_whole(str(tmp_path / "out.txt"), "x")
    assert (tmp_path / "out.txt").read_text() == "x"


def test_a_relative_path_is_written_where_it_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_whole("out.txt", "x")
    assert (tmp_path / "out.txt").read_text() == "x"


def test_an_existing_file_is_replaced(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("a much longer old content")
    write_whole(target, "new")
    assert target.read_text() == "new"


def test_a_failing_write_keeps_the_old_content_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(target, "begins well, then \udcff")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace", "interrupt"])
def test_a_failure_at_any_step_leaves_nothing_behind(tmp_path, monkeypatch, step):
    target = tmp_path / "out.txt"
    target.write_text("old")
    error = KeyboardInterrupt if step == "interrupt" else OSError

    def fail(*_):
        raise error("disk full")

    if step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(error, match="disk full"):
        write_whole(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_directory_is_not_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(OSError, match="out"):
        write_whole(tmp_path / "out", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").is_dir()


def test_a_missing_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "out.txt", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_has_the_permissions_of_a_plain_one(tmp_path):
    (tmp_path / "plain.txt").write_text("x")
    write_whole(tmp_path / "out.txt", "x")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain.txt", "out.txt")}
    assert len(modes) == 1


def test_links_are_followed(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_what_is_no_file_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="A folder"):
        write_whole(tmp_path, "text")
