"""What a crash may leave of a store with a folder beside its files: start at `crashed_stores`."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from support.faulty import CrashImages, FaultyFiles, Image, Note, restore


def crashed_stores(
    files: FaultyFiles, base: Path, folder: str, rng: random.Random, share: float
) -> Iterator[tuple[Path, int]]:
    """Copies of the store in `base / "store"` as crashes leave them, each gone when the next comes.

    Each with the number of the last note, of what was acknowledged before the crash.

    files   those through which the store was written
    folder  a folder of the store that belongs to it
    share   of the moments that are tried
    """
    images, acked, seen = CrashImages(), 0, list[Image]()
    for event in files.trace:
        if isinstance(event, Note):
            acked = event.value[1]
        images.follow(event)
        for image in images.images(rng, 2) if rng.random() < share else ():
            if image in seen:
                continue
            seen = [*seen[-8:], image]
            target, inner = base / "crash", base / "store" / folder
            restore(image, base / "store", target)
            if any(Path(name).parent == inner for name in image):
                restore(image, inner, target / folder)
            yield target, acked
            shutil.rmtree(target)
