"""Units: what is written behind a number, in one form, and whether two of them agree."""

import re
from collections import Counter
from fractions import Fraction

from verifiers.maths.words import CHANGE_MEANING, is_number_word

_UNITS: dict[str, tuple[Fraction, dict[str, int]]] = {}
"""By each written name: its size in base units, and the powers of the base units."""


def _define(names: str, size: Fraction | int | str, **dimension: int) -> None:
    for name in names.split():
        _UNITS[name] = (Fraction(size), dimension)


_define("m meter metre", 1, m=1)
_define("cm centimeter centimetre", "1/100", m=1)
_define("mm millimeter millimetre", "1/1000", m=1)
_define("dm decimeter decimetre", "1/10", m=1)
_define("km kilometer kilometre", 1000, m=1)
_define("in inch inche", "254/10000", m=1)
_define("ft foot feet", "3048/10000", m=1)
_define("yd yard", "9144/10000", m=1)
_define("mi mile", "1609344/1000", m=1)
_define("g gram gramme", 1, g=1)
_define("kg kilogram kilogramme kilo", 1000, g=1)
_define("mg milligram", "1/1000", g=1)
_define("lb pound", "45359237/100000", g=1)
_define("oz ounce", "28349523125/1000000000", g=1)
_define("t ton tonne", 1000000, g=1)
_define("s sec second", 1, s=1)
_define("ms millisecond", "1/1000", s=1)
_define("min minute", 60, s=1)
_define("h hr hour", 3600, s=1)
_define("day", 86400, s=1)
_define("week wk", 604800, s=1)
_define("year yr", 31556952, s=1)
_define("month", 2629746, s=1)
_define("l liter litre", "1/1000", m=3)
_define("ml milliliter millilitre", "1/1000000", m=3)
_define("dollar usd buck", 1, dollar=1)
_define("cent penny pennie", "1/100", dollar=1)
_define("euro eur", 1, euro=1)
_define("rad radian", 1, radian=1)
_define("mph", "1609344/3600000", m=1, s=-1)
_define("kph kmh kmph", "1000/3600", m=1, s=-1)
_define("celsius celsiu c", 1, celsius=1)
_define("fahrenheit f", 1, fahrenheit=1)
_define("W watt", 1, watt=1)
_define("kW kilowatt", 1000, watt=1)
_define("MW megawatt", 10**6, watt=1)
_define("mW milliwatt", "1/1000", watt=1)
_define("J joule", 1, joule=1)
_define("kJ kilojoule", 1000, joule=1)
_define("N newton", 1, newton=1)
_define("kN kilonewton", 1000, newton=1)
_define("Pa pascal", 1, pascal=1)
_define("kPa kilopascal", 1000, pascal=1)
_define("V volt", 1, volt=1)
_define("A amp ampere", 1, ampere=1)
_define("mol mole", 1, mole=1)
_define("K kelvin", 1, kelvin=1)
_define("eV", 1, electronvolt=1)
_define("GB gigabyte", 10**9, byte=1)
_define("MB megabyte", 10**6, byte=1)
_define("KB kB kilobyte", 1000, byte=1)
_define("byte", 1, byte=1)
_define("rpm", 1, rpm=1)
_define("unit", 1, unit=1)
_define("pair", 1, pair=1)
_define("hz hertz", 1, s=-1)

SHORT = frozenset("m g s h l L cm mm km dm kg mg lb oz ft in yd mi hr sec min ms mL ml lbs mph kph rad".split())
"""Unit names that a bare word behind a number may be."""
_ANY_CASE = frozenset("L mL ML KM CM MM KG LB LBS OZ FT MPH KPH Hz HZ USD EUR C F MI YD Min Hr Day Sec".split())
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_WORD = re.compile(r"(?P<name>[^\W\d_]+)\.?\s*(?:\^?\s*\{?\s*(?P<power>-?\d)\s*\}?)?|(?P<sign>[/*])|(?P<other>\S)")
CURRENCIES = {
    "$": "dollar",
    "dollar": "dollar",
    "\u20ac": "euro",
    "\u00a3": "pound sterling",
    "\u00a5": "yen",
    "\u20b9": "rupee",
}


def normal(written: str) -> str | None:
    """Return a unit in its one form, "cm^2 s^-1", or None where the words are no unit."""
    powers: Counter[str] = Counter()
    sign, pending = 1, 1
    for match in _WORD.finditer(written.replace("\\cdot", "*").replace("\\", " ")):
        if match["other"]:
            if match["other"] in "(){}.,~":
                continue
            return None
        if match["sign"]:
            sign = -1 if match["sign"] == "/" else sign
            continue
        name = match["name"]
        lowered = name.lower()
        if lowered == "per":
            sign = -1
            continue
        if lowered in _POWERS:
            if lowered not in ("squared", "cubed"):
                pending = _POWERS[lowered]
            elif not powers:
                return None
            else:
                powers[next(reversed(powers))] *= _POWERS[lowered]
            continue
        unit = _singular(name)
        if lowered in CHANGE_MEANING or is_number_word(lowered):
            return None
        if len(name) <= 2 and name.isascii() and unit not in _UNITS and lowered not in ("of", "a", "an"):
            return None
        if lowered in ("of", "the", "a", "an"):
            continue
        powers[unit] += sign * pending * int(match["power"] or 1)
        pending = 1
    return " ".join(f"{name}^{power}" if power != 1 else name for name, power in sorted(powers.items()))


def _singular(name: str) -> str:
    """Return a unit's name in its one form; the case of short ones tells milli from mega."""
    known = name if len(name) <= 3 and name not in _ANY_CASE else name.lower()
    if known in _UNITS:
        return _canonical(known)
    if len(known) > 2 and known.endswith("s") and not known.endswith("ss"):
        return _canonical(known[:-1])
    return known


def _canonical(name: str) -> str:
    """Return the first of the names that mean the same unit."""
    if name not in _UNITS:
        return name
    return next(known for known, meaning in _UNITS.items() if meaning == _UNITS[name])


def ratio(gold: str, answer: str) -> Fraction | None:
    """Return how many of the gold's units one of the answer's is, None where they measure different things."""
    if gold == answer:
        return Fraction(1)
    gold_size, gold_dimension = _measure(gold)
    size, dimension = _measure(answer)
    if gold_dimension == dimension:
        return size / gold_size
    known = [{name: power for name, power in side.items() if name in _BASES} for side in (gold_dimension, dimension)]
    words = [
        {name: power for name, power in side.items() if name not in _BASES} for side in (gold_dimension, dimension)
    ]
    if (
        known[0] == known[1]
        and all(words)
        and (words[0].items() <= words[1].items() or words[1].items() <= words[0].items())
    ):
        return size / gold_size  # "ways" and "different ways"
    return None


def is_unit(written: str) -> bool:
    """Tell whether every name in `written` is that of a known unit: m/s, g/L, m s^{-1}."""
    names = re.findall(r"[^\W\d_]+", written)
    return bool(names) and all(_singular(name) in _UNITS or name.lower() == "per" for name in names)


def _measure(unit: str) -> tuple[Fraction, dict[str, int]]:
    size, dimension = Fraction(1), Counter[str]()
    for piece in unit.split():
        name, _, power = piece.partition("^")
        exponent = int(power or 1)
        if abs(exponent) > 12:
            exponent = 12
        unit_size, unit_dimension = _UNITS.get(name, (Fraction(1), {name: 1}))
        size *= unit_size**exponent
        for base, base_power in unit_dimension.items():
            dimension[base] += base_power * exponent
    return size, {base: power for base, power in dimension.items() if power}


_BASES = frozenset(base for _, dimension in _UNITS.values() for base in dimension)
