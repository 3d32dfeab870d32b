"""What several tests of queries need."""

from __future__ import annotations

import pytest

from triplestore.sparql.plan.planner import Planner


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was planned anew."""
    made: list[object] = []
    begin = Planner.__init__

    def noted(self: Planner, *arguments: object, **options: object) -> None:
        made.append(arguments)
        begin(self, *arguments, **options)

    monkeypatch.setattr(Planner, "__init__", noted)
    return made
