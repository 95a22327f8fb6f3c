// Small charts of the training metrics, under the same crosshair and zoom as the held-out curves.

const KEY_METRICS = [
  "reward/mean", "verify/pass_rate", "kl/per_response", "kl/exact", "policy/entropy", "policy/clip_frac",
  "policy/ratio_max", "policy/approx_kl", "policy/grad_norm", "critic/explained_variance", "critic/value_mean",
  "rollout/response_tokens", "rollout/truncated_frac", "policy/advantage_std", "eval/train_gap", "eval/audit_gap",
  "time/step_s",
];

function isShare(name) {
  return /_frac$|pass_rate$|^eval\/.*_gap$/.test(name);
}

function metricText(name, value) {
  return isShare(name) ? percentText(value) : numberText(value, 3);
}

// Held-out metrics have a number for each evaluation, the others for each step.
function metricValues(run, name) {
  return name.startsWith("eval/") ? run.evaluations.map((one) => one.metrics?.[name]) : run.metrics[name] ?? [];
}

function metricPoints(run, name, axis) {
  if (name.startsWith("eval/")) {
    return evaluationPoints(run, { pick: (one) => ({ pass_rate: one.metrics?.[name] }) }, axis, false);
  }
  const places = run.steps[axis.key] ?? [];
  return metricValues(run, name).map((y, i) => ({ x: places[i], y })).filter(({ x }) => isNumber(x))
    .map(({ x, y }) => ({ x: x / axis.divisor, y }));
}

function trainingSection(runs, meanings, group) {
  const known = [...KEY_METRICS, ...Object.keys(meanings), ...runs.flatMap((run) => Object.keys(run.metrics))];
  const names = [...new Set(known)].filter((name) => runs.some((run) => metricValues(run, name).some(isNumber)));
  if (names.length === 0) return section("training", "Training metrics", note("No PPO step has been logged yet."));
  const constant = new Map();
  for (const name of names) {
    const values = runs.flatMap((run) => metricValues(run, name).filter(isNumber));
    if (values.length > 1 && values.every((value) => value === values[0])) constant.set(name, values[0]);
  }
  const figures = names.filter((name) => !constant.has(name))
    .map((name) => metricFigure(runs, name, meanings[name] ?? "", group));
  const empty = note("No metric that changes has these words in its name or meaning.");
  const box = h("input", {
    type: "search", placeholder: "filter, such as kl", "aria-label": "Filter metrics",
    oninput: () => choose({ find: box.value }),
  });
  const show = () => {
    if (box.value !== choices.find) box.value = choices.find;
    const words = choices.find.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { name, text, root } of figures) {
      const isUsual = choices.all || KEY_METRICS.includes(name);
      root.hidden = !(words.length ? words.every((word) => text.includes(word)) : isUsual);
    }
    empty.hidden = figures.some(({ root }) => !root.hidden);
  };
  whenChosen(["find", "all"], show);
  whenChosen(["hide", "log"], () => figures.forEach(({ chart }) => chart.draw()));
  show();
  const flat = [...constant].map(([name, value]) => `${name} ${metricText(name, value)}`);
  return section("training", "Training metrics",
    h("div", { class: "controls" }, box,
      onOff("all", `All ${figures.length}`, "Show every metric that changes, not only the usual ones"),
      onOff("log", "Log y", "Logarithmic y axis where all values are positive")),
    h("div", { class: "small-charts" }, figures.map(({ root }) => root)), empty,
    flat.length ? note(`Constant throughout: ${flat.join(", ")}.`) : null);
}

function metricFigure(runs, name, meaning, group) {
  const many = runs.length > 1;
  const readings = runs.map((run, i) =>
    h("span", { class: "reading" }, many ? swatch(COLOURS[i % COLOURS.length]) : null, h("b")));
  const points = (run) => metricPoints(run, name, axisOf(runs));
  const positive = runs.every((run) => metricValues(run, name).every((value) => !isNumber(value) || value > 0));
  const chart = lineChart(group, {
    label: `${name}: ${meaning}`, height: 116, small: true,
    y: () => ({
      format: isShare(name) ? (v) => `${numberText(100 * v, 3)} %` : shortText, log: Boolean(choices.log) && positive,
    }),
    series: () => runs.map((run, i) => ({
      run: i, colour: COLOURS[i % COLOURS.length], points: points(run), marker: name.startsWith("eval/"),
    })).filter((line) => line.points.length && !listed("hide").includes(String(line.run))),
    onPoint: (hits) => readings.forEach((reading, i) => {
      const hit = hits?.find(({ series }) => series.run === i)?.point;
      const last = () => points(runs[i]).filter(({ y }) => isNumber(y)).at(-1);
      reading.lastChild.textContent = metricText(name, (group.cursor === null ? last() : hit)?.y);
    }),
  });
  const root = h("figure", { title: meaning, "data-metric": name, class: many ? "several" : null },
    h("figcaption", {}, h("span", { class: "metric" }, name), readings),
    h("p", { class: "meaning" }, meaning), chart.root);
  return { name, text: `${name} ${meaning}`.toLowerCase(), root, chart };
}
