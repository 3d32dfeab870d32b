"""A small SKOS thesaurus: facilities of stops, and causes of disruptions."""

from __future__ import annotations

from pyoxigraph import Literal

from demo.vocabulary import Writer, name

# concept: (broader, English, German, French, other English names)
CONCEPTS: dict[str, tuple[str | None, str, str, str, tuple[str, ...]]] = {
    "facility": (None, "facility", "Ausstattung", "équipement", ()),
    "access": ("facility", "access", "Zugang", "accès", ()),
    "lift": ("access", "lift", "Aufzug", "ascenseur", ("elevator",)),
    "ramp": ("access", "ramp", "Rampe", "rampe", ()),
    "escalator": ("access", "escalator", "Rolltreppe", "escalier roulant", ("moving stairs",)),
    "tactile-paving": ("access", "tactile paving", "Leitstreifen", "bande podotactile", ()),
    "waiting": ("facility", "waiting", "Warten", "attente", ()),
    "shelter": ("waiting", "shelter", "Wartehäuschen", "abri", ("bus shelter",)),
    "bench": ("waiting", "bench", "Bank", "banc", ()),
    "heated-room": ("waiting", "heated waiting room", "Warteraum", "salle d'attente", ()),
    "information": ("facility", "information", "Auskunft", "information", ()),
    "display": ("information", "departure display", "Anzeigetafel", "afficheur", ()),
    "speech-output": ("display", "speech output", "Ansage", "annonce vocale", ()),
    "city-map": ("information", "city map", "Stadtplan", "plan de ville", ()),
    "sale": ("facility", "sale of tickets", "Verkauf", "vente", ()),
    "ticket-machine": ("sale", "ticket machine", "Automat", "distributeur", ()),
    "ticket-office": ("sale", "ticket office", "Schalter", "guichet", ()),
    "onward-travel": ("facility", "onward travel", "Weiterfahrt", "correspondance", ()),
    "bicycle-rack": ("onward-travel", "bicycle rack", "Fahrradständer", "range-vélos", ()),
    "bicycle-hire": ("onward-travel", "bicycle hire", "Leihräder", "vélos en location", ()),
    "taxi-rank": ("onward-travel", "taxi rank", "Taxistand", "station de taxis", ("cab stand",)),
    "car-park": ("onward-travel", "car park", "Parkplatz", "parking", ("parking lot",)),
    "cause": (None, "cause of disruption", "Störungsursache", "cause de perturbation", ()),
    "weather": ("cause", "weather", "Wetter", "météo", ()),
    "snow": ("weather", "snow", "Schnee", "neige", ()),
    "black-ice": ("snow", "black ice", "Glatteis", "verglas", ()),
    "flood": ("weather", "flood", "Hochwasser", "crue", ("high water",)),
    "storm": ("weather", "storm", "Sturm", "tempête", ("gale",)),
    "technical": ("cause", "technical fault", "technische Störung", "panne", ()),
    "signal-fault": ("technical", "signal fault", "Signalstörung", "panne de signal", ()),
    "points-fault": ("technical", "points fault", "Weichenstörung", "panne d'aiguillage", ()),
    "power-cut": ("technical", "power cut", "Stromausfall", "panne de courant", ()),
    "works": ("cause", "works", "Bauarbeiten", "travaux", ("engineering works",)),
    "track-works": ("works", "track works", "Gleisbau", "travaux de voie", ()),
    "road-works": ("works", "road works", "Straßenbau", "travaux routiers", ()),
    "public-event": ("cause", "public event", "Veranstaltung", "manifestation", ()),
    "marathon": ("public-event", "marathon", "Marathon", "marathon", ("city run",)),
    "street-fair": ("public-event", "street fair", "Straßenfest", "fête de rue", ()),
}
RELATED = [("lift", "ramp"), ("snow", "heated-room"), ("display", "power-cut"), ("flood", "storm")]
SCHEME = name("thesaurus:scheme")


def narrowest(top: str) -> list[str]:
    """The concepts below `top` without narrower ones."""
    parents = {broader for broader, *_ in CONCEPTS.values()}
    return [key for key in CONCEPTS if key not in parents and top in ancestors(key)]


def ancestors(key: str) -> list[str]:
    """All broader concepts, the nearest first."""
    broader = CONCEPTS[key][0]
    return [] if broader is None else [broader, *ancestors(broader)]


def write_thesaurus() -> Writer:
    """The quads of the thesaurus, in the default graph."""
    out = Writer()
    out.state(SCHEME, name("rdf:type"), name("skos:ConceptScheme"))
    out.label(SCHEME, {"en": "Words of public transport", "de": "Wörter des Nahverkehrs"})
    for key, (broader, english, german, french, others) in CONCEPTS.items():
        concept = name(f"thesaurus:{key}")
        out.state(concept, name("rdf:type"), name("skos:Concept"))
        for language, text in (("en", english), ("de", german), ("fr", french)):
            out.state(concept, name("skos:prefLabel"), Literal(text, language=language))
        for text in others:
            out.state(concept, name("skos:altLabel"), Literal(text, language="en"))
        if broader is None:
            out.state(concept, name("skos:topConceptOf"), SCHEME)
        else:
            out.state(concept, name("skos:inScheme"), SCHEME)
            out.state(concept, name("skos:broader"), name(f"thesaurus:{broader}"))
    for one, other in RELATED:
        out.state(name(f"thesaurus:{one}"), name("skos:related"), name(f"thesaurus:{other}"))
    return out
