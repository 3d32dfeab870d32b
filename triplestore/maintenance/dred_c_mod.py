"""DRed^c-Mod: DRed^c where modules close the transitive rules of a stratum, beside other rules.

Thesis, algorithm 7, lines 161 to 189, with the counters of *modular*, algorithm 3. The rules that
are not transitive are fired one by one. The transitive ones belong to a module with Del, Red and
Add, `modules/leaping`. Modules that own all rules of a stratum need no driver: `mat_mod` calls
them.

Ours deviates as follows. All transitive rules of the stratum are one module, so facts go from it to
the other rules and back, never from module to module. Del keeps a fact that follows from the
remaining external edges (the oracle T, strengthened), and returns the others. Red returns nothing:
the facts that it finds leave D at once. Diff is what `touched` finds, for all rules.
"""

from __future__ import annotations

from triplestore.maintenance.modules.leaping import Leaps
from triplestore.maintenance.seminaive import insert
from triplestore.maintenance.steps.rederive import derivable, derivable_keys
from triplestore.maintenance.steps.stratum import StratumUpdate
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import U64, Bools
from triplestore.rules.families import Family


def dred_c_mod(update: StratumUpdate, module: Leaps) -> None:
    """Bring one stratum up to date."""
    work, kept = update.work, update.kept

    def derived(name: RelationKey, keys: U64, but: frozenset[Family]) -> Bools:
        def wanted(family: Family) -> bool:
            return family.recursive and family not in but

        return derivable_keys(work, kept, name, keys, "leaps", wanted, work.old())

    module.begin(derived)  # its state, X_R, after the last update
    touched = update.touched()  # 162: E-, and what all rules lose by lower strata; C_nr is final
    module.take_back(touched)  # 163: Del begins with edges that are no longer external
    lost = module.doubt(touched)
    while lost:  # 164 to 173
        found = update.drop_by(lost, module.families)  # 168 to 170: of the other rules
        lost = module.doubt(found)  # 169: Del
    module.keep()  # 175, 176: Red
    rest = work.filter(update.dropped(), work.gone.contains)
    others = module.families
    again = derivable(
        work, kept, rest, "rederivation", lambda one: one.recursive and one not in others
    )
    insert(update, again)  # 177 to 189: each round is followed by Add, see `StratumUpdate.add`
