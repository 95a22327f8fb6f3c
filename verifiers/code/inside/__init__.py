"""What runs inside the sandbox: the candidate's side and the trusted judge.

Standard library alone, and no import from outside this package: verifiers.code.bundle carries these modules over as
source. Whatever runs beside the candidate's code may be changed by it; what it says is data, never a finding.
"""
