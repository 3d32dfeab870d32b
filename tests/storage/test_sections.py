"""Section files: what is written comes back, and any changed bit is noticed."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.errors import CorruptError, FormatError
from triplestore.storage.files.sections import BLOCK, FileRef, SectionFile, write_sections
from triplestore.storage.files.system import RealFiles

FILES = RealFiles()
SECTIONS = {
    "keys": np.arange(0, 60_000, 3, dtype=np.uint64),
    "ids": np.arange(9, dtype=np.uint32)[::-1].copy(),
    "none": np.empty(0, dtype=np.uint8),
    "text": np.frombuffer(b"some text", dtype=np.uint8),
    "floats": np.array([0.5, -2.0]),
}


def written(path: Path, **options) -> FileRef:
    return write_sections(FILES, path, "layer", SECTIONS, {"rows": 3}, **options)


def test_section_file__gives_back_what_was_written(tmp_path):
    ref = written(tmp_path / "a.seg", pause=lambda: None)
    file = SectionFile(FILES, tmp_path / "a.seg", ref)
    assert file.kind == "layer" and file.meta == {"rows": 3}
    assert file.names() == tuple(SECTIONS) and "keys" in file and "other" not in file
    for name, array in SECTIONS.items():
        column = file.column(name)
        assert column.dtype == array.dtype
        assert column.all().tolist() == array.tolist()
    assert file.column("keys").search(30_000) == 10_000
    assert file.bytes_of("text") == b"some text"
    assert list(file.verify()) == []


def test_section_file__stays_readable_when_its_name_is_removed(tmp_path):
    ref = written(tmp_path / "a.seg")
    file = SectionFile(FILES, tmp_path / "a.seg", ref)
    (tmp_path / "a.seg").unlink()
    assert file.column("keys").all().tolist() == SECTIONS["keys"].tolist()


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_section_file__any_flipped_bit_is_found_and_never_read(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("flip") / "a.seg"
    ref = written(path)
    content = bytearray(path.read_bytes())
    # The ends of the file, where headers and tables are, as often as its vast middle.
    place = data.draw(
        st.one_of(
            st.integers(0, len(content) - 1),
            st.integers(0, 63),
            st.integers(len(content) - 900, len(content) - 1),
        )
    )
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        file = SectionFile(FILES, path, ref)
    except CorruptError as error:
        assert "a.seg" in str(error)
        return
    refused = 0
    for name, array in SECTIONS.items():
        try:
            assert file.column(name).all().tolist() == array.tolist()
        except CorruptError as error:
            assert "a.seg" in str(error)
            refused += 1
    problems = list(SectionFile(FILES, path, ref).verify())
    assert problems and len(problems) >= refused


def test_section_file__blocks_that_are_not_damaged_can_still_be_read(tmp_path):
    ref = written(tmp_path / "a.seg")
    content = bytearray((tmp_path / "a.seg").read_bytes())
    content[64 + BLOCK * 2 + 5] ^= 1
    (tmp_path / "a.seg").write_bytes(content)
    column = SectionFile(FILES, tmp_path / "a.seg", ref).column("keys")
    per_block = BLOCK // 8
    assert column[: 2 * per_block].tolist() == SECTIONS["keys"][: 2 * per_block].tolist()
    with pytest.raises(CorruptError, match=r"a\.seg is damaged: .* block 2 of section 'keys'"):
        column.at(2 * per_block)


def test_section_file__what_is_used_often_is_verified_to_its_end(tmp_path):
    ref = written(tmp_path / "a.seg")
    column = SectionFile(FILES, tmp_path / "a.seg", ref).column("keys")
    assert column.in_file
    for _ in range(20):
        assert column.search(30) == 10
    assert not column.in_file
    assert column.take(np.array([19_999])).tolist() == [59_997]


def test_section_file__a_damaged_block_that_nobody_wants_is_no_trouble(tmp_path):
    ref = written(tmp_path / "a.seg")
    content = bytearray((tmp_path / "a.seg").read_bytes())
    content[64 + BLOCK * 4 + 5] ^= 1
    (tmp_path / "a.seg").write_bytes(content)
    column = SectionFile(FILES, tmp_path / "a.seg", ref).column("keys")
    for _ in range(10):
        assert column.search(30) == 10 and column.take(np.array([7])).tolist() == [21]
    with pytest.raises(CorruptError, match="block 4 of section 'keys'"):
        column.search(3 * (BLOCK // 8 * 4 + 9))
    assert column.in_file


@pytest.mark.parametrize("size", [0, 10, 64, 1000, -1])
def test_section_file__that_was_cut_off_is_refused(tmp_path, size):
    ref = written(tmp_path / "a.seg")
    content = (tmp_path / "a.seg").read_bytes()
    (tmp_path / "a.seg").write_bytes(content[:size])
    with pytest.raises(CorruptError, match=r"a\.seg"):
        SectionFile(FILES, tmp_path / "a.seg", ref)


def test_section_file__another_file_under_its_name_is_refused(tmp_path):
    ref = written(tmp_path / "a.seg")
    write_sections(FILES, tmp_path / "a.seg", "layer", SECTIONS, {"rows": 4})
    with pytest.raises(CorruptError, match="not the file that the manifest"):
        SectionFile(FILES, tmp_path / "a.seg", ref)


def test_section_file__of_a_newer_format_is_refused_by_that_name(tmp_path):
    written(tmp_path / "a.seg")
    content = bytearray((tmp_path / "a.seg").read_bytes())
    content[8:12] = struct.pack("<I", 99)
    content[60:64] = struct.pack("<I", zlib.crc32(content[:60]))
    (tmp_path / "a.seg").write_bytes(content)
    with pytest.raises(FormatError, match=r"format 99, written by a newer version.*upgrade"):
        SectionFile(FILES, tmp_path / "a.seg")
