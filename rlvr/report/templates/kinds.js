// The two kinds of response in the rollout browser: training rollouts, each of the policy before its step, and held-out
// probes, each of the policy after so many steps.

const KINDS = { probe: "Held-out probes", rollout: "Training rollouts" };

function kindOf(response) {
  return response.probe ? "probe" : "rollout";
}

const KIND_NOTES = {
  probe: "Held-out probes: the same problems, never trained on, answered at every evaluation by sampling from the " +
    "policy after that many steps. Advantages are not whitened; no update follows, so a ratio is not applicable.",
  rollout: "Training rollouts: sampled in a step by the policy that the steps before it had made, then trained on.",
};

function stepsText(count) {
  return count === 1 ? "1 step" : `${count} steps`;
}

function kindButtons(now) {
  return now.kinds.map((key) => h("button", {
    type: "button", "data-key": key, "aria-pressed": key === now.kind,
    onclick: () => choose({ kind: key, step: "", problem: "", sample: 0, only: "all", beside: "" }),
  }, KINDS[key]));
}

// Returns what the choices stand for: the run's browser, what kind of response and which kinds there are, the step, its
// responses that pass the filter, the current one. Without a choice probes come first: the same problems at every step.
function whereWeAre(runs, usable) {
  const run = usable.includes(Number(choices.run)) ? Number(choices.run) : usable[0];
  const { browser } = runs[run];
  const { problems } = browser;
  const kinds = Object.keys(KINDS).filter((key) => browser.responses.some((one) => kindOf(one) === key));
  const kind = kinds.includes(choices.kind) ? choices.kind : kinds[0];
  const steps = kind === "probe" ? browser.probe_steps : browser.steps;
  const responses = browser.responses.filter((one) => kindOf(one) === kind);
  const isKnown = choices.step !== "" && steps.includes(Number(choices.step));
  const step = isKnown ? Number(choices.step) : steps.at(-1);
  const ofStep = responses.filter((one) => one.step === step);
  const list = ofStep.filter((one) => choices.only === "all" || String(one.outcome) === choices.only);
  const same = list.filter((one) => problems[one.problem].id === choices.problem);
  const current = same[Number(choices.sample)] ?? same[0] ?? list[0] ?? null;
  return { run, kinds, kind, steps, problems, responses, step, ofStep, list, current };
}
