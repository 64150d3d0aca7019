"""All families, and the model of a number."""

import numpy as np

from builder import Builder, Unbuildable
import antialias
import bodies
import borders
import edges
import forms
import islands
import packed
import parameters
import ranks
import sequences
import singles
import topologies
import twins
import variants
import zoo

FAMILIES = {
    **antialias.FAMILIES,
    **topologies.FAMILIES,
    **singles.FAMILIES,
    **sequences.FAMILIES,
    **twins.FAMILIES,
    **zoo.FAMILIES,
    **packed.FAMILIES,
    **bodies.FAMILIES,
    **islands.FAMILIES,
    **forms.FAMILIES,
    **borders.FAMILIES,
    **edges.FAMILIES,
    **variants.FAMILIES,
    **parameters.FAMILIES,
    **ranks.FAMILIES,
}


def make(seed, number, only=None, builder=Builder):
    """The model of this number: its name, its builder and the model. Tries again until choices give one."""
    names = [n for n in FAMILIES if only is None or n in only]
    weights = np.array([FAMILIES[n][1] for n in names], float)
    family = names[int(np.random.default_rng([seed, number]).choice(len(names), p=weights / weights.sum()))]
    why = []
    for attempt in range(20):
        b = builder(np.random.default_rng([seed, number, attempt]))
        try:
            with np.errstate(all="ignore"):
                FAMILIES[family][0](b)
                model = b.finish()
            return f"{family}_{seed}_{number}", b, model
        except (Unbuildable, ValueError, IndexError) as error:
            why.append(str(error))
    raise Unbuildable(f"{family}_{seed}_{number}: {why[-1]}")
