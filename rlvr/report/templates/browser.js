// The rollout browser: one response of one step, and what the same problem got elsewhere.

const OUTCOMES = {
  correct: ["\u2713", "correct"], incorrect: ["\u2717", "incorrect"], no_answer: ["\u2205", "no answer"],
  timed_out: ["\u25f7", "timed out"], crashed: ["\u26a0", "crashed"], null: ["?", "not judged"],
};

function outcomeMark(outcome) {
  return (OUTCOMES[outcome] ?? OUTCOMES.null)[0];
}

function badge(outcome) {
  const text = OUTCOMES[outcome]?.[1] ?? oneLine(String(outcome), 30);
  return h("span", { class: `badge ${outcome in OUTCOMES ? outcome : "null"}` },
    h("span", { "aria-hidden": "true" }, `${outcomeMark(outcome)} `), text);
}

function oneLine(text, limit) {
  const flat = text.slice(0, 10 * limit).replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return flat.length > limit || text.length > 10 * limit ? `${flat.slice(0, limit - 3)}...` : flat;
}

function optionsOf(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
  select.value = chosen;
  select.disabled = options.length === 0;
}

// A select between a button back and one forth. names: [label, title of back, title of forth].
function stepper(names, pick, move) {
  const select = h("select", { "aria-label": names[0], onchange: () => pick(select.value) });
  const button = (title, by, text) =>
    h("button", { type: "button", title, "aria-label": title, onclick: () => move(by) }, text);
  const back = button(names[1], -1, "\u2039");
  const forth = button(names[2], 1, "\u203a");
  const root = h("div", { class: "stepper" }, h("span", { class: "name" }, names[0]), back, select, forth);
  const show = (options, i) => {
    optionsOf(select, options, options[i]?.[0] ?? "");
    back.disabled = i <= 0;
    forth.disabled = i >= options.length - 1;
  };
  return { root, show };
}

function problemBox(id, prompt, encoded) {
  return h("div", { class: "prompt" },
    h("h3", {}, "Problem ", h("code", {}, readable(id, 200))), h("pre", {}, readable(prompt)),
    encoded ? h("details", {}, h("summary", {}, "As the model saw it"), h("pre", {}, readable(encoded))) : null);
}

function browserSection(runs) {
  const usable = runs.map((run, i) => i).filter((i) => runs[i].browser?.responses.length);
  if (usable.length === 0) {
    return section("rollouts", "Rollouts",
      note("No rollouts are in this page. Where the notes of the summary give no reason, none are stored: " +
        "tracking.rollouts_every and tracking.probe_problems are 0, or no step has been done yet."));
  }
  const idOf = (run, one) => runs[run].browser.problems[one.problem].id;
  // Numbered from 0, as `rlvr inspect --sample` does.
  const isNumbered = runs.map((run) => (run.browser?.responses ?? []).some((one) => one.sample > 0));
  const numbered = (run, one) => (isNumbered[run] ? `, response ${one.sample}` : "");
  const titleOf = (run, one) => {
    const place = one.probe ? `Probe, after ${stepsText(one.step)}` : `Step ${one.step}`;
    const named = runs.length > 1 ? `${runs[run].name}, ${place[0].toLowerCase()}${place.slice(1)}` : place;
    return named + numbered(run, one);
  };
  const goTo = (run, one, list, more) => {
    const isSame = (other) => other.step === one.step && other.problem === one.problem && kindOf(other) === kindOf(one);
    const sample = list.filter(isSame).indexOf(one);
    choose({ run, kind: kindOf(one), step: one.step, problem: idOf(run, one), sample, ...more });
  };
  // The chosen problem stays chosen: it is shown again at the next step that has it.
  const goToStep = (now, step) => {
    const problem = choices.problem || (now.current ? idOf(now.run, now.current) : "");
    // A probe is followed whatever its verdict.
    const rest = now.kind === "probe" ? { only: "all" } : { sample: 0 };
    choose({ run: now.run, kind: now.kind, step, problem, ...rest });
  };
  const moveStep = (by) => {
    const now = whereWeAre(runs, usable);
    const place = now.steps.indexOf(now.step);
    const further = by > 0 ? now.steps.slice(place + 1) : now.steps.slice(0, place).reverse();
    const same = now.responses.filter((one) => one.probe && one.problem === now.current?.problem);
    const step = further.find((step) => same.some((one) => one.step === step)) ?? further[0];
    if (step !== undefined) goToStep(now, step);
  };
  const moveResponse = (by) => {
    const now = whereWeAre(runs, usable);
    const one = now.list[now.list.indexOf(now.current) + by];
    if (one) goTo(now.run, one, now.list);
  };
  const runSelect = h("select", {
    "aria-label": "Run", onchange: () => choose({ run: runSelect.value, step: "", beside: "" }),
  });
  const kinds = h("div", { class: "choice", role: "group", "aria-label": "Kind of response" });
  const kindNote = note("");
  const stepNames = ["Step", "Earlier step (key h)", "Later step (key l)"];
  const pickStep = (step) => {
    const now = whereWeAre(runs, usable);
    if (now.kind === "probe") goToStep(now, step);
    else choose({ step, sample: 0 });
  };
  const steps = stepper(stepNames, pickStep, moveStep);
  const list = stepper(["Response", "Previous response (key k)", "Next response (key j)"], (i) => {
    const now = whereWeAre(runs, usable);
    goTo(now.run, now.list[i], now.list);
  }, moveResponse);
  const filter = h("div", { class: "choice", role: "group", "aria-label": "Outcome" });
  const colours = h("div", { class: "colours" });
  const body = h("div", { class: "panels" });
  const others = h("div", { class: "others" });
  const numbers = numbersPanel();
  let views = [];

  function show() {
    const now = whereWeAre(runs, usable);
    optionsOf(runSelect, usable.map((i) => [i, runs[i].name]), now.run);
    const isProbe = now.kind === "probe";
    replaceKeepingFocus(kinds, kindButtons(now));
    kinds.hidden = now.kinds.length < 2;
    kindNote.hidden = !now.kinds.includes("probe");
    kindNote.textContent = KIND_NOTES[now.kind];
    steps.show(now.steps.map((step) => [step, isProbe ? `after ${step}` : String(step)]), now.steps.indexOf(now.step));
    const nameOf = (one) => `${outcomeMark(one.outcome)} ${oneLine(now.problems[one.problem].prompt, 60)}` +
      (isProbe ? numbered(now.run, one) : "");
    list.show(now.list.map((one, i) => [i, nameOf(one)]), now.list.indexOf(now.current));
    replaceKeepingFocus(filter, outcomeFilter(now));
    views = [];
    if (now.current) showCurrent(now);
    else {
      body.replaceChildren(note("No response at this step has this outcome: choose another step, or all outcomes."));
      others.replaceChildren();
    }
    recolour();
  }

  function showCurrent(now) {
    const id = idOf(now.run, now.current);
    const all = usable.flatMap((run) =>
      runs[run].browser.responses.map((one, k) => ({ one, run, key: `${run}.${k}` })));
    const same = all
      .filter(({ one, run }) => idOf(run, one) === id)
      .sort((a, b) => a.one.step - b.one.step || a.run - b.run);
    const beside = same.find(({ key, one }) => key === choices.beside && one !== now.current);
    const shown = [{ one: now.current, run: now.run }, ...(beside ? [beside] : [])];
    const peers = shown.map(({ one }) => one);
    views = shown.map(({ one, run }) =>
      ({ one, run, view: tokenView(one, `Response, ${titleOf(run, one)}`, peers, numbers.show) }));
    body.replaceChildren(problemBox(id, now.problems[now.current.problem].prompt, now.current.prompt),
      h("div", { class: beside ? "pair two" : "pair" },
        views.map(({ one, run, view }) => responsePanel(one, titleOf(run, one), view.root))));
    replaceKeepingFocus(others, h("h3", {}, "The same problem elsewhere"), same.length < 2
      ? note("Drawn once among the responses of this page.")
      : elsewhere(same, now.current, beside));
    views[0].view.activate(now.current.tokens.length - 1);
  }

  function outcomeFilter(now) {
    const count = (key) => now.ofStep.filter((one) => key === "all" || String(one.outcome) === key).length;
    const keys = Object.keys(OUTCOMES).filter((key) => now.responses.some((one) => String(one.outcome) === key));
    return [h("span", { class: "name" }, "Outcome"), ["all", ...keys].map((key) => h("button", {
      type: "button", "data-key": key, "aria-pressed": choices.only === key,
      onclick: () => choose({ only: key, sample: 0 }),
    }, `${key === "all" ? "all" : OUTCOMES[key][1]} ${count(key)}`))];
  }

  function elsewhere(same, current, beside) {
    const rows = same.map(({ one, run, key }) => {
      const beyond = choices.beside === key ? "" : choices.beside;
      const open = () => goTo(run, one, runs[run].browser.responses, { only: "all", beside: beyond });
      const acts = [
        h("button", { type: "button", onclick: open }, "Show"),
        h("button", {
          type: "button", "data-key": key, "aria-pressed": beside?.key === key,
          onclick: () => choose({ beside: choices.beside === key ? "" : key }),
        }, "Beside"),
      ];
      return h("tr", { class: one === current ? "current" : null },
        h("th", { scope: "row" }, titleOf(run, one)), h("td", {}, badge(one.outcome)),
        h("td", { class: "n" }, signedText(one.reward)), h("td", { class: "n" }, numberText(one.kl, 3)),
        h("td", { class: "n" }, numberText(tokenCount(one))),
        h("td", { class: "snippet" }, oneLine(one.tokens.join(""), 90)),
        h("td", { class: "acts" }, one === current ? "shown above" : acts));
    });
    const heads = [["where"], ["verdict"], ["reward", "n"], ["KL", "n"], ["tokens", "n"], ["response"], [""]];
    return h("div", { class: "scroll" }, h("table", {}, headRow(heads), h("tbody", {}, rows)));
  }

  function recolour() {
    const now = whereWeAre(runs, usable);
    const isStored = (key) => now.responses.some((one) => one[key]?.some(isNumber));
    const keys = Object.keys(COLOURINGS).filter(isStored);
    const key = keys.includes(choices.colour) ? choices.colour : keys[0];
    // One scale for all responses to the problem, so that steps can be compared by eye.
    const sharing = now.responses.filter((one) => one.problem === now.current?.problem);
    const scale = key ? colourScale(key, [...sharing, ...views.map(({ one }) => one)]) : null;
    replaceKeepingFocus(colours, colourControls(keys, key, scale, now.kind));
    for (const { view } of views) if (scale) view.paint(scale, key);
  }

  whenChosen(["run", "kind", "step", "problem", "sample", "only", "beside"], show);
  whenChosen(["colour"], recolour);
  show();
  const root = section("rollouts", "Rollouts",
    h("div", { class: "controls" },
      usable.length > 1 ? h("div", { class: "stepper" }, h("span", { class: "name" }, "Run"), runSelect) : null,
      kinds, steps.root, list.root, filter),
    kindNote, colours, h("div", { class: "browser" }, body, numbers.root), others, keyHelp());
  listenToKeys(root, {
    j: () => moveResponse(1), k: () => moveResponse(-1), l: () => moveStep(1), h: () => moveStep(-1),
  });
  return root;
}

function tokenCount(response) {
  return response.tokens.length + (response.omitted ? response.omitted - 1 : 0);
}

function responsePanel(one, title, view) {
  const facts = [
    ["reward", signedText(one.reward)], ["score", numberText(one.score)],
    ["answer", isNumber(one.answer) || one.answer ? oneLine(String(one.answer), 80) : NONE],
    ["tokens", numberText(tokenCount(one))], ["KL, nats", numberText(one.kl, 3)],
    ["end", one.finish === "length" ? "cut by the length limit" : String(one.finish)],
  ];
  return h("article", {},
    h("h3", {}, title, badge(one.outcome),
      one.why?.length ? h("span", { class: "why" }, `chosen: ${one.why.join(", ")}`) : null),
    one.probe ? note(`Held-out probe: the policy after ${stepsText(one.step)}, sampled, not trained on.`) : null,
    h("p", { class: "detail" }, readable(String(one.detail ?? ""), 600)),
    h("dl", { class: "facts-line" },
      facts.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, readable(text))))),
    view);
}

function colourControls(keys, chosen, scale, kind) {
  const missing = Object.keys(COLOURINGS)
    .filter((key) => !keys.includes(key) && !(kind === "probe" && COLOURINGS[key].needsUpdate))
    .map((key) => COLOURINGS[key].name);
  const meaning = (key) => (kind === "probe" && COLOURINGS[key].ofProbe) || COLOURINGS[key].meaning;
  const words = [chosen ? meaning(chosen) : null, missing.length ? `Not recorded: ${missing.join(", ")}.` : null];
  const buttons = keys.map((key) => h("button", {
    type: "button", "data-key": key, "aria-pressed": key === chosen, title: meaning(key),
    onclick: () => choose({ colour: key }),
  }, COLOURINGS[key].name));
  return [
    h("div", { class: "choice", role: "group", "aria-label": "Colour of the tokens" },
      h("span", { class: "name" }, "Colour"), buttons),
    scale ? h("div", { class: "scale" },
      h("div", { class: "gradient", style: { "background-image": scale.gradient } }),
      h("div", { class: "ends" }, scale.legend.map((text) => h("span", {}, text)))) : null,
    note(words.filter(Boolean).join(" ")),
  ];
}

function keyHelp() {
  const key = (name) => [h("kbd", {}, name), " "];
  return h("p", { class: "note keyhelp" }, key("j"), key("k"), "next and previous response, ", key("h"), key("l"),
    "earlier and later step; in a response the arrow keys move between tokens, Home and End to its ends.");
}

function listenToKeys(root, keys) {
  document.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const box = root.getBoundingClientRect();
    if (root.contains(event.target) || (box.top < innerHeight && box.bottom > 0)) keys[event.key]();
  });
}
