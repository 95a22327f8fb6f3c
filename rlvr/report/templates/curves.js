// The held-out curves, on the x axis that the reader chooses.

const AXES = { step: "PPO step", rollouts: "rollouts", tokens: "response tokens", wall_s: "wall time" };
const DASHES = [null, "6 3", "2 3", "9 3 2 3", "1 3", "12 4"];

// An audit often agrees with the verifier to the last response: the line below must show through.
const SINGLE_DASHES = { audit: "7 5", train: "2 3" };

// Returns {key, divisor, name}; places on the axis are divided by `divisor`, which turns seconds into minutes or hours.
function axisOf(runs) {
  const key = choices.x in AXES ? choices.x : "step";
  if (key !== "wall_s") return { key, divisor: 1, name: AXES[key] };
  const longest = highest(allPlaces(runs, "wall_s"));
  const [divisor, unit] = longest > 10800 ? [3600, "hour"] : longest > 180 ? [60, "minute"] : [1, "second"];
  return { key, divisor, name: unit };
}

function allPlaces(runs, key) {
  return runs.flatMap((run) => [...(run.steps[key] ?? []), ...run.evaluations.map((one) => one[key])]).filter(isNumber);
}

function xExtent(runs, { key, divisor }) {
  const places = allPlaces(runs, key).map((place) => place / divisor);
  const low = -highest(places.map((place) => -place));
  return low < highest(places) ? [low, highest(places)] : [0, Math.max(1, highest(places))];
}

// Returns {kind: {label, pick}}; pick(evaluation) gives what that evaluation measured, or nothing.
function evaluationKinds(run) {
  const kinds = {};
  for (const one of run.evaluations) {
    if (one.greedy) kinds.greedy = { label: "greedy", pick: (e) => e.greedy };
    if (one.sampled) kinds.sampled = { label: "sampled (pass@1)", pick: (e) => e.sampled };
    for (const k of Object.keys(one.sampled?.pass_at_k ?? {}).filter((k) => k !== "1")) {
      const at = (e) => e.sampled?.pass_at_k?.[k];
      kinds[`pass@${k}`] = { label: `pass@${k}`, pick: (e) => ({ ...at(e), pass_rate: at(e)?.value }) };
    }
    for (const name of Object.keys(one.audit ?? {})) {
      kinds[`audit ${name}`] = { label: `audit: ${name}`, pick: (e) => e.audit?.[name] };
    }
    if (isNumber(one.train_pass_rate)) {
      kinds.train = { label: "training rollouts", pick: (e) => ({ pass_rate: e.train_pass_rate }) };
    }
  }
  return kinds;
}

// The base model is a point of its own (isBase), not the start of the curve, where a warm start follows it.
function evaluationPoints(run, kind, { key, divisor }, isBase) {
  const warm = run.evaluations.some((one) => one.phase === "sft");
  return run.evaluations
    .filter((one) => (warm && one.phase === "base") === isBase && isNumber(one[key]))
    .map((one) => {
      const { pass_rate: y, low, high } = kind.pick(one) ?? {};
      return { one, x: one[key] / divisor, y, low, high };
    })
    .filter((point) => isNumber(point.y));
}

function curvesSection(runs, group) {
  const measured = runs.filter((run) => run.evaluations.length);
  if (measured.length === 0) return section("curves", "Held-out pass rate", note("No held-out evaluation yet."));
  const kinds = Object.assign({}, ...measured.map(evaluationKinds));
  const names = Object.keys(kinds);
  const many = runs.length > 1;
  const largest = names.filter((name) => name.startsWith("pass@")).at(-1);
  const atFirst = (name) => (many ? /^(greedy|sampled)$/.test(name) : !name.startsWith("pass@") || name === largest);
  const isShown = (name) => listed("series").includes(name) !== atFirst(name);
  const isRunShown = (i) => !listed("hide").includes(String(i));
  // One run: a colour for every kind. Several: a colour for every run and a dash pattern for every kind.
  const look = (name, i) => ({
    colour: COLOURS[(many ? i : names.indexOf(name)) % COLOURS.length],
    dash: many ? DASHES[names.indexOf(name) % DASHES.length] : SINGLE_DASHES[name.split(" ")[0]],
  });
  const legend = curvesLegend(runs, group, { kinds, names, look, isShown, isRunShown });
  const chart = lineChart(group, {
    label: "Held-out pass rate. Left and right arrow move the crosshair, Escape resets the zoom.",
    height: 330,
    y: () => ({ format: (v) => `${numberText(100 * v, 3)} %`, ...(choices.fit ? {} : { min: -0.015, max: 1.015 }) }),
    series: () => {
      const axis = axisOf(runs);
      const lines = runs.flatMap((run, i) => (isRunShown(i) ? names.filter(isShown) : []).flatMap((name) =>
        [false, true].map((alone) => ({
          ...look(name, i), marker: true, width: 2, alone, points: evaluationPoints(run, kinds[name], axis, alone),
        }))));
      return lines.filter((line) => line.points.length);
    },
    onPoint: legend.read,
  });
  whenChosen(["series", "hide", "fit"], () => chart.draw());
  const usable = Object.entries(AXES).filter(([key]) => allPlaces(measured, key).length);
  const reset = h("button", { type: "button", onclick: () => group.zoomTo(null) }, "Reset zoom");
  const showReset = () => { reset.disabled = choices.zoom === ""; };
  whenChosen(["zoom"], showReset);
  showReset();
  return section("curves", "Held-out pass rate",
    h("div", { class: "controls" }, oneOf("x axis", "x", usable),
      onOff("fit", "Fit y", "Fit the y axis to the curves instead of 0 to 100 %"), reset),
    h("div", { class: runs.length > 2 ? "curves many" : "curves" },
      h("figure", {}, chart.root), h("div", { class: "scroll" }, legend.root)),
    note(curvesHints(runs, measured, names)));
}

// The legend is the readout too: kinds as rows, runs as columns, the numbers under the crosshair in the cells.
function curvesLegend(runs, group, { kinds, names, look, isShown, isRunShown }) {
  const many = runs.length > 1;
  const cells = names.map(() => runs.map(() => h("td")));
  const sizes = runs.map(() => h("td"));
  const place = h("th", { scope: "col", class: "place" });
  const toggle = (key, item, isOn, mark, text) => {
    const button = h("button", { type: "button", class: "series", onclick: () => toggleListed(key, item) }, mark, text);
    const show = () => button.setAttribute("aria-pressed", isOn());
    whenChosen([key], show);
    show();
    return button;
  };
  const columns = runs.map((run, i) => h("th", { scope: "col" },
    many ? toggle("hide", String(i), () => isRunShown(i), swatch(COLOURS[i % COLOURS.length]), run.name)
      : "pass rate, 95 % interval"));
  const rows = names.map((name, row) => {
    const mark = swatch(many ? "currentColor" : look(name, 0).colour, look(name, 0).dash);
    const button = toggle("series", name, () => isShown(name), mark, kinds[name].label);
    return h("tr", {}, h("th", { scope: "row" }, button), cells[row]);
  });
  const last = h("tr", {}, h("th", { scope: "row", class: "sizes" }, "problems"), sizes);
  const root = h("table", { class: "legend" },
    h("thead", {}, h("tr", {}, place, columns)), h("tbody", { "aria-live": "polite" }, rows, last));
  const read = () => {
    const axis = axisOf(runs);
    place.textContent = group.cursor === null ? "latest" : `${axis.name} ${numberText(group.cursor)}`;
    runs.forEach((run, i) => {
      const hits = names.map((name) => {
        const points = evaluationPoints(run, kinds[name], axis, false);
        return group.cursor === null ? points.at(-1) : nearest(points, group.cursor);
      });
      hits.forEach((hit, row) => { cells[row][i].textContent = rateText(hit); });
      const one = hits.find((hit) => hit)?.one;
      sizes[i].textContent = one ? `${numberText((one.greedy ?? one.sampled)?.n)} at step ${one.step}` : NONE;
    });
  };
  return { root, read };
}

function curvesHints(runs, measured, names) {
  const sizes = [...new Set(measured.flatMap((run) => run.evaluations.map((one) => one.greedy?.n)).filter(isNumber))];
  const missing = runs.filter((run) => run.evaluations.length === 0).map((run) => run.name);
  return [
    measured.every((run) => run.evaluations.length === 1) && "One evaluation only: no curve yet.",
    missing.length > 0 && `Not evaluated yet: ${missing.join(", ")}.`,
    sizes.length > 1 && `The points rest on ${Math.min(...sizes)} to ${Math.max(...sizes)} problems each.`,
    !names.some((name) => name.startsWith("audit")) && "No audit verifiers (evaluation.audit).",
    "Bands are 95 % intervals. Drag across a chart to zoom all of them; a double click or Escape resets.",
  ].filter(Boolean).join(" ");
}
