"""The names that formulas are made of."""

FUNCTIONS = {
    **{
        name: name for name in "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp gcd lcm max min".split()
    },
    **{f"arc{name}": f"a{name}" for name in ("cot", "sec", "csc", "sinh", "cosh", "tanh")},
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "tg": "tan",
    "ctg": "cot",
    "arctg": "arctan",
    "cosec": "csc",
    "sgn": "sign",
    "sign": "sign",
    "det": "det",
    "Re": "re",
    "Im": "im",
    "arg": "arg",
    "ln": "ln",
    "log": "log",
    "lg": "lg",
    "cis": "cis",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "abs": "abs",
    "floor": "floor",
    "ceil": "ceil",
}
INVERSE = {name: f"arc{name}" for name in ("sin", "cos", "tan")} | {
    name: f"a{name}" for name in ("cot", "sec", "csc", "sinh", "cosh", "tanh")
}
FRACTIONS = frozenset("frac dfrac tfrac cfrac nicefrac sfrac flatfrac xfrac".split())
GREEK_SYMBOLS = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma tau "
    "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega ell hbar".split()
)
TIMES = frozenset(("cdot", "times", "ast", "star", "bullet", "cdotp"))
MATRICES = {"pmatrix", "bmatrix", "matrix", "smallmatrix", "Bmatrix", "array", "vmatrix"}
NO_PRODUCTS = frozenset(
    "or to in is no if at of by we on as an be am pm and yes not for any all the odd one two six ten cm mm km kg mg ml "
    "ft yd mi oz lb lbs min sec hr hrs mph kph pct rad deg sq cu day men mod per set dne inf nan max box ace cup car "
    "pie way red yen usd eur boy dog cat top pts pt".split()
)
"""Short words that are no product of letters."""
NAMES_OF_FUNCTIONS = frozenset("fghFGHPQW")
FACTOR_COMMANDS = (
    FRACTIONS
    | GREEK_SYMBOLS
    | frozenset(FUNCTIONS)
    | frozenset(
        "sqrt fullroot binom dbinom tbinom pi imath jmath infty lfloor lceil lvert overline bar vec begin mathbb angle "
        "sum prod int lim conj hat langle triangle dollar ldots dots cdots".split()
    )
)
PROBABILITIES = frozenset("P Pr E Var Cov Prob".split())
EVENT_SIGNS = frozenset(("=", "|", "<", ">", "\\mid", "\\cap", "\\cup", "\\le", "\\ge", "\\leq", "\\geq"))
"""What makes the bracket behind P hold an event and no number."""
BASE_WORDS = {
    word: number
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
} | {"sixteen": 16, "binary": 2, "octal": 8, "decimal": 10, "hex": 16, "hexadecimal": 16}
