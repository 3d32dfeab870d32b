"""Journals: what is torn is left out, what is damaged is refused, and the two are told apart."""

from __future__ import annotations

import errno
import random
from pathlib import Path

import numpy as np
import pytest

from triplestore.errors import CorruptError, FormatError
from triplestore.storage.files.encode import decode, decode_keys, encode, encode_keys
from triplestore.storage.files.journal import Journal, journal_path, read_journals
from triplestore.storage.files.system import RealFile, RealFiles

FILES = RealFiles()
STORE = "00112233445566778899aabbccddeeff"


def payload(commit: int) -> bytes:
    rng = random.Random(commit)
    kind = commit % 3
    if kind == 0:  # long runs of zeros, as status columns have them
        return bytes(rng.randrange(1, 3000))
    return rng.randbytes(rng.randrange(1, 60 if kind == 1 else 2000))


def journal_of(directory: Path, commits: int, synced: bool = True) -> list[int]:
    """Write a journal of so many commits; where each of them ends."""
    journal = Journal.create(FILES, directory, 1, STORE, 0)
    ends = [journal.end]
    for commit in range(1, commits + 1):
        if commit == 3:
            journal.reserve()
        journal.append(commit, payload(commit))
        if synced:
            journal.sync()
        ends.append(journal.end)
    journal.close(trim=False)
    return ends


def commits_in(directory: Path, first: int = 1, commit: int = 0) -> list[int]:
    chain = read_journals(FILES, directory, STORE, first, commit)
    assert [record.payload for record in chain.records] == [
        payload(record.commit) for record in chain.records
    ]
    return [record.commit for record in chain.records]


def test_journal__gives_back_its_records(tmp_path):
    journal_of(tmp_path, 20)
    assert commits_in(tmp_path) == list(range(1, 21))


def test_journal__goes_on_in_the_next_file(tmp_path):
    journal_of(tmp_path, 5)
    second = Journal.create(FILES, tmp_path, 2, STORE, 5)
    for commit in range(6, 9):
        second.append(commit, payload(commit))
        second.sync()
    second.close()
    assert commits_in(tmp_path) == list(range(1, 9))
    assert commits_in(tmp_path, first=2, commit=5) == [6, 7, 8]


@pytest.mark.parametrize("seed", range(40))
def test_torn_record__at_the_end_is_left_out(tmp_path, seed):
    """The last record is missing any part a crash can take: a tail, or some of its sectors."""
    rng = random.Random(seed)
    commits = rng.randrange(2, 8)
    ends = journal_of(tmp_path, commits)
    path = journal_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    start, stop = ends[-2], ends[-1]
    if rng.random() < 0.5:
        cut = rng.randrange(start, stop)
        if rng.random() < 0.5:
            content[cut:stop] = bytes(stop - cut)
        else:
            del content[cut:]
    else:
        sectors = range(start // 512, (stop - 1) // 512 + 1)
        for sector in rng.sample(sectors, rng.randrange(1, len(sectors) + 1)):
            lo, hi = max(start, sector * 512), min(stop, sector * 512 + 512)
            content[lo:hi] = bytes(hi - lo)
    path.write_bytes(content)
    assert commits_in(tmp_path) == list(range(1, commits))


@pytest.mark.parametrize("seed", range(60))
def test_flipped_bit__anywhere_in_a_record_is_refused_even_in_the_last(tmp_path, seed):
    rng = random.Random(seed)
    ends = journal_of(tmp_path, 7)
    path = journal_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    content[rng.randrange(ends[rng.choice([0, 3, 6, 6])], ends[-1])] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    with pytest.raises(CorruptError, match=r"journal-000001\.log is damaged"):
        commits_in(tmp_path)


@pytest.mark.parametrize("place", range(0, 64, 3))
def test_flipped_bit__in_the_header_is_refused(tmp_path, place):
    journal_of(tmp_path, 3)
    path = journal_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    with pytest.raises(CorruptError, match=r"journal-000001\.log"):
        commits_in(tmp_path)


def test_lost_sector__that_a_later_record_vouches_for_is_refused(tmp_path):
    ends = journal_of(tmp_path, 7)
    path = journal_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    content[ends[3] : ends[4]] = bytes(ends[4] - ends[3])
    path.write_bytes(content)
    with pytest.raises(CorruptError, match="commit 4, which should begin at byte"):
        commits_in(tmp_path)


def test_lost_record__that_nothing_vouches_for_ends_the_journal(tmp_path):
    """Without a sync between them, a later record can reach the disk before an earlier one."""
    ends = journal_of(tmp_path, 7, synced=False)
    path = journal_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    content[ends[3] : ends[4]] = bytes(ends[4] - ends[3])
    path.write_bytes(content)
    assert commits_in(tmp_path) == [1, 2, 3]


def test_lost_file__in_the_middle_is_noticed(tmp_path):
    journal_of(tmp_path, 5)
    for number, commit in ((2, 6), (3, 7)):
        journal = Journal.create(FILES, tmp_path, number, STORE, commit - 1)
        journal.append(commit, payload(commit))
        journal.sync()
        journal.close()
    journal_path(tmp_path, 3).replace(journal_path(tmp_path, 2))
    with pytest.raises(CorruptError, match=r"journal-000002\.log"):
        commits_in(tmp_path)


@pytest.mark.parametrize("size", [0, 20, 63])
def test_unfinished_next_journal__is_as_if_it_were_not_there(tmp_path, size):
    journal_of(tmp_path, 5)
    Journal.create(FILES, tmp_path, 2, STORE, 5).close()
    path = journal_path(tmp_path, 2)
    path.write_bytes(path.read_bytes()[:size])
    assert commits_in(tmp_path) == [1, 2, 3, 4, 5]


def test_journal__of_another_store_or_number_or_version_is_refused(tmp_path):
    journal_of(tmp_path, 2)
    with pytest.raises(CorruptError, match="journal of another store"):
        read_journals(FILES, tmp_path, STORE[::-1], 1, 0)
    path = journal_path(tmp_path, 1)
    path.rename(journal_path(tmp_path, 4))
    with pytest.raises(CorruptError, match="another journal"):
        read_journals(FILES, tmp_path, STORE, 4, 0)


def test_journal__goes_on_after_a_write_that_failed_half_way(tmp_path, monkeypatch):
    journal = Journal.create(FILES, tmp_path, 1, STORE, 0)
    journal.append(1, payload(1))
    journal.sync()
    whole_write = RealFile.write

    def half_write(self: RealFile, data: bytes, offset: int) -> None:
        whole_write(self, data[: len(data) // 2], offset)
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(RealFile, "write", half_write)
        with pytest.raises(OSError, match="no space"):
            journal.append(2, payload(2) * 40)
    assert not journal.tail_is_clean()
    journal.take_back(journal.position())
    assert journal.tail_is_clean()
    journal.append(2, payload(2))
    journal.sync()
    journal.close()
    assert commits_in(tmp_path) == [1, 2]


def test_resumed_journal__goes_on_where_it_ended(tmp_path):
    journal_of(tmp_path, 3)
    chain = read_journals(FILES, tmp_path, STORE, 1, 0)
    last = chain.scans[-1]
    journal = Journal(FILES, last.path, last.number, chain.commit, last.end, last.check)
    journal.append(4, payload(4))
    journal.sync()
    journal.close()
    assert commits_in(tmp_path) == [1, 2, 3, 4]
    assert FILES.size(journal_path(tmp_path, 1)) == journal.end
    later = read_journals(FILES, tmp_path, STORE, 1, 3, since=(last.end, last.check))
    assert [record.commit for record in later.records] == [4]


def test_another_record__in_the_place_of_one_that_was_read_is_not_followed(tmp_path):
    """Two histories that part at commit 3, with records of equal lengths."""
    histories = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        journal = Journal.create(FILES, tmp_path / name, 1, STORE, 0)
        for commit in (1, 2, 3, 4):
            journal.append(commit, name.encode() if commit == 3 else b"x")
        journal.close()
        histories.append(tmp_path / name)
    read = read_journals(FILES, histories[0], STORE, 1, 0).scans[-1].records[2]
    end = FILES.size(journal_path(histories[0], 1)) - (48 + 8 + 8)
    later = read_journals(FILES, histories[0], STORE, 1, 3, since=(end, read.check))
    assert [record.commit for record in later.records] == [4]
    with pytest.raises(CorruptError, match="commit 4"):
        read_journals(FILES, histories[1], STORE, 1, 3, since=(end, read.check))


def test_newer_format__is_refused_by_that_name(tmp_path, monkeypatch):
    monkeypatch.setattr("triplestore.storage.files.journal.VERSION", 7)
    journal_of(tmp_path, 1)
    with pytest.raises(FormatError, match="format 7, written by a newer version"):
        commits_in(tmp_path)


def test_encode__round_trips_arrays_bytes_and_keys():
    items = {
        "a": np.arange(5, dtype=np.uint32),
        "empty": np.empty(0, dtype=np.uint8),
        "status": np.array([1, 0, 2], dtype=np.uint8),
        "wide": np.array([2**63], dtype=np.uint64),
    }
    back = decode(encode({**items, "text": b"hello"}))
    assert back.pop("text").tobytes() == b"hello"
    assert {name: array.tolist() for name, array in back.items()} == {
        name: array.tolist() for name, array in items.items()
    }
    assert all(back[name].dtype == array.dtype for name, array in items.items())
    keys = [b"\1http://a", b"", b"\3" + bytes(300)]
    assert decode_keys(encode_keys(17, keys)) == (17, keys)
