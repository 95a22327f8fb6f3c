"""Pictures of pass rates: along a run, against the KL from the reference, and by the number of attempts."""

from rlvr.evaluation.curves.plotting import plot_crossover, plot_curves, plot_frontier

__all__ = ["plot_crossover", "plot_curves", "plot_frontier"]
