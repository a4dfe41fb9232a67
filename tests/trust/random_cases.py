"""Random microdata and random options: what the attacked chain is fed with."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from independent_attack import Knowledge
from naive_tables import TOTAL, Design, Key, Record, tabulate

# Encodings and separators of text files; a decimal comma only where no comma parts.
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
SEPARATORS = (",", ";", "\t")
QUICK = ("auto", "auto", "auto", "greedy", "attacker", "hitas", "hypercube", "grasp")


@dataclass(frozen=True)
class TextFile:
    """How a CSV file is written."""

    encoding: str = "utf-8"
    separator: str = ","
    decimal: str = "."
    ends: str = "\n"


@dataclass
class Case:
    """Records, what is asked for, and what attackers know by it."""

    seed: int
    records: list[Record]
    design: Design
    knowledge: Knowledge
    options: dict[str, Any] = field(default_factory=dict)
    earlier: list[Key] = field(default_factory=list)
    hide: Key | None = None
    by_command: bool = False
    text: TextFile = TextFile()
    kinds: list[str] = field(default_factory=list)


def draw(seed: int, *, commands: bool = True) -> Case:
    """Draw a case: the same for the same seed."""
    rng = random.Random(seed)
    # Drawn apart, so that the other draws are what they were without these.
    more = random.Random(f"files and levels of {seed}")
    names = ["a", "b", "c"][: rng.choice([1, 2, 2, 2, 3, 3])]
    # Small enough that thousands of sets take minutes.
    grow = _tree if len(names) < 3 else _small_tree
    trees = {name: grow(rng, name) for name in names}
    levels: tuple[tuple[int, ...], ...] = ()
    if len(names) > 1 and more.random() < 0.15:
        names, levels = names[:2], more.choice(_LEVELS)
        trees = {
            name: _even_tree(more, name, max(depths[k] for depths in levels))
            for k, name in enumerate(names)
        }
    if more.random() < 0.2:
        trees = {name: _accented(tree) for name, tree in trees.items()}
    magnitudes = rng.random() < 0.65
    weighted = rng.random() < 0.2
    holdings = rng.random() < 0.3
    negatives = magnitudes and rng.random() < 0.25
    records = _records(rng, trees, magnitudes, weighted, holdings, negatives)
    spans = _spans(rng, names)
    if levels:
        spans = ((names[0], names[1]),) * len(levels)
    used = [r for r in records if r.weight > 0]
    for name in names:
        if all(parent == TOTAL for parent in trees[name].values()):
            # Of a flat variable nobody knows the codes that no record has.
            codes = sorted({r.codes[name] for r in used})
            trees[name] = dict.fromkeys(codes, TOTAL)
    counts = not magnitudes and not weighted
    design = Design(
        spans=spans,
        trees=trees,
        rules=_rules(rng, magnitudes, names),
        magnitudes=magnitudes,
        weighted=weighted,
        holdings=holdings,
        waiver=_waiver(rng, records) if holdings else frozenset(),
        least=_floor(rng, counts),
        levels=levels,
    )
    case = Case(seed, records, design, Knowledge())
    case.text = _text_file(more)
    _choose_options(rng, case, commands=commands)
    apart = bool(case.hide) or "linked later" in case.kinds
    if commands and not apart and not case.by_command and more.random() < 0.15:
        case.by_command = True
        case.kinds.append("command line")
    case.kinds += [
        *(["weights"] if weighted else []),
        *(["holdings"] if holdings else []),
        *(["negatives"] if negatives else []),
        *(["waiver"] if design.waiver else []),
        *(["linked"] if len(spans) > 1 else []),
        *(["levels"] if levels else []),
        *([case.text.encoding] if case.by_command else []),
        *(["decimal comma"] if case.by_command and case.text.decimal == "," else []),
        *(["whole"] if all(r.value.denominator == 1 for r in records) else []),
        *(["zeros"] if any(r.value == 0 for r in records) else []),
        *(["group"] if case.design.groups else []),
        "counts" if counts else "magnitudes",
        f"{len(names)} variables",
        *(["trees"] if any(_deep(tree) for tree in trees.values()) else []),
        *(rule.partition(":")[0] for rule in case.design.rules),
    ]
    case.kinds = list(dict.fromkeys(case.kinds))
    return case


# How many levels of two variables each of several linked tables shows.
_LEVELS = (
    ((2, 1), (1, 2)),
    ((2, 1), (1, 1)),
    ((3, 1), (2, 2)),
    ((2, 1), (1, 2), (1, 1)),
)


def _even_tree(rng: random.Random, name: str, depth: int) -> dict[str, str]:
    """Draw a tree whose codes all have so many levels above them, or fewer."""
    tree: dict[str, str] = {}
    level = [TOTAL]
    for step in range(depth):
        parents, level = level, []
        for parent in parents:
            stem = name if parent == TOTAL else parent
            for k in range(rng.choice([2, 3] if not step else [1, 2, 2])):
                tree[f"{stem}{k}"] = parent
                level.append(f"{stem}{k}")
    return tree


def _accented(tree: dict[str, str]) -> dict[str, str]:
    """Codes that are not the same bytes in every encoding."""

    def accent(code: str) -> str:
        return code if code == TOTAL else f"{code}é"

    return {accent(code): accent(parent) for code, parent in tree.items()}


def _text_file(rng: random.Random) -> TextFile:
    separator = rng.choice(SEPARATORS)
    decimal = "." if separator == "," else rng.choice(".,")
    return TextFile(
        rng.choice(ENCODINGS), separator, decimal, rng.choice(["\n", "\r\n"])
    )


def _tree(rng: random.Random, name: str) -> dict[str, str]:
    if rng.random() < 0.55:
        return {f"{name}{i}": TOTAL for i in range(rng.randint(2, 5))}
    tree: dict[str, str] = {}
    for i in range(rng.randint(2, 3)):
        top = f"{name}{i}"
        tree[top] = TOTAL
        for j in range(rng.choice([0, 1, 2, 2, 3])):
            tree[f"{top}{j}"] = top
            if rng.random() < 0.2:
                for k in range(rng.randint(1, 2)):
                    tree[f"{top}{j}{k}"] = f"{top}{j}"
    return tree


def _small_tree(rng: random.Random, name: str) -> dict[str, str]:
    tree = {f"{name}{i}": TOTAL for i in range(rng.choice([2, 2, 3]))}
    if rng.random() < 0.25:
        tree |= {f"{name}0{j}": f"{name}0" for j in range(rng.choice([1, 2]))}
    return tree


def _deep(tree: dict[str, str]) -> bool:
    return any(parent != TOTAL for parent in tree.values())


def _records(
    rng: random.Random,
    trees: dict[str, dict[str, str]],
    magnitudes: bool,
    weighted: bool,
    holdings: bool,
    negatives: bool,
) -> list[Record]:
    leaves = {
        name: [code for code in tree if code not in tree.values()]
        for name, tree in trees.items()
    }
    favourite = {name: rng.choice(codes) for name, codes in leaves.items()}
    cents = magnitudes and rng.random() < 0.3
    zeros = rng.random() < 0.2
    top = rng.choice([10, 100, 5000, 2_000_000])
    owners = [f"h{i}" for i in range(rng.randint(2, 15))]
    asks = rng.random() < 0.5
    found = []
    for _ in range(rng.randint(10, rng.choice([25, 40, 60]))):
        value = Fraction(1)
        if magnitudes:
            value = Fraction(int(top * rng.random() ** 3) + 1)
            if cents:
                value += Fraction(rng.randint(0, 99), 100)
            if zeros and rng.random() < 0.3:
                value = Fraction(0)
            if negatives and rng.random() < 0.3:
                value = -value
        found.append(
            Record(
                codes={
                    name: favourite[name] if rng.random() < 0.2 else rng.choice(codes)
                    for name, codes in leaves.items()
                },
                value=value,
                weight=Fraction(rng.choice([0, 2, 4, 4, 4, 5, 9, 12]), 4)
                if weighted
                else Fraction(1),
                holding=rng.choice(owners) if holdings else "",
                request=rng.choice(["", "", "1", "2"]) if asks else "",
            )
        )
    if not any(record.weight for record in found):
        found[0] = replace(found[0], weight=Fraction(1))
    return found


def _spans(rng: random.Random, names: list[str]) -> tuple[tuple[str, ...], ...]:
    if len(names) == 1 or rng.random() < 0.65:
        return (tuple(names),)
    if len(names) == 2:
        return (names[0],), (names[1],)
    every = [("a", "b"), ("a", "c"), ("b", "c")]
    return tuple(rng.sample(every, rng.randint(2, 3)))


def _rules(rng: random.Random, magnitudes: bool, names: list[str]) -> tuple[str, ...]:
    if not magnitudes:
        pool = ["freq:3", "freq:2", "freq:5,10", "freq:3,30,records", "p:10", "nk:2,80"]
        rules = rng.sample(pool, rng.choice([1, 1, 2]))
        return tuple(rules)
    pool = ["p:15", "p:5", "p:20,2", "nk:1,75", "nk:2,85", "nk:3,60.5", "pq:10,100"]
    pool += ["pq:20,50,2", "freq:3", "freq:2,50", "freq:4,10,records", "zero:10"]
    pool += ["req:40", "req:60,30,35"]
    return tuple(rng.sample(pool, rng.choice([1, 2, 2, 3])))


def _waiver(rng: random.Random, records: list[Record]) -> frozenset[str]:
    owners = sorted({record.holding for record in records})
    if rng.random() < 0.6:
        return frozenset()
    return frozenset(rng.sample(owners, rng.randint(1, max(1, len(owners) // 3))))


def _floor(rng: random.Random, counts: bool) -> Fraction | None:
    if rng.random() < 0.7:
        return None
    return Fraction(rng.choice([1, 2])) if counts else Fraction(rng.choice([0, 1, 7]))


def _choose_options(rng: random.Random, case: Case, *, commands: bool) -> None:
    options, kinds, design = case.options, case.kinds, case.design
    if design.counts and rng.random() < 0.3:
        shared = set(design.names).intersection(*design.spans)
        word = rng.choice(["group", *(f"group:{name}" for name in sorted(shared))])
        design = case.design = replace(design, rules=(*design.rules, word))
    options["method"] = rng.choice(QUICK)
    options["seed"] = rng.randint(0, 9)
    known: dict[str, Any] = {}
    if rng.random() < 0.2:
        options["bounds"] = rng.choice(["percent:50", "percent:100", "percent:30"])
        known["percent"] = float(options["bounds"].partition(":")[2])
        kinds.append("percent")
    if rng.random() < 0.12:
        options["strict"] = known["strict"] = True
        kinds.append("strict")
    if rng.random() < 0.15:
        options["who"], known["insiders"] = "public", False
        kinds.append("singletons off")
    if rng.random() < 0.08:
        options["protect_secondaries"] = known["secondaries"] = True
        kinds.append("secondaries")
    if design.counts and rng.random() < 0.15:
        options["published_threshold"] = known["threshold"] = rng.choice([3, 4])
        kinds.append("threshold")
    cells = tabulate(case.records, design)
    if rng.random() < 0.12:
        quiet = [k for k in cells if not cells[k].sensitive or rng.random() < 0.05]
        case.earlier = rng.sample(quiet, min(len(quiet), rng.randint(1, 6)))
        known["known"] = frozenset(case.earlier)
        kinds += ["earlier"] if case.earlier else []
    if rng.random() < 0.1:
        free = [k for k in cells if k not in case.earlier]
        case.hide = rng.choice(free) if free else None
        known["wished"] = frozenset([case.hide] if case.hide else [])
        kinds += ["hide"] if case.hide else []
    case.by_command = commands and not case.hide and rng.random() < 0.1
    kinds += ["command line"] if case.by_command else []
    later = len(design.spans) > 1 and not case.by_command and rng.random() < 0.3
    if later and not design.levels:
        kinds.append("linked later")
    case.knowledge = Knowledge(**known)
