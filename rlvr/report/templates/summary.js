// The sections made of words and tables: what was run, warnings, failures and time, comparison.

const LEVELS = { alarm: ["\u26a0", "Alarm"], warning: ["\u25b2", "Warning"], note: ["i", "Note"] };
const TIME_COLOURS = [...COLOURS, "#7f7f7f", "#9c755f", "#8c6bb1", "#bcbd22"];

function table(name, head, rows) {
  const body = rows.map(([first, ...rest]) =>
    h("tr", { class: rest.some((cell) => cell !== rest[0]) ? "differs" : null },
      h("th", { scope: "row" }, first), rest.map((cell) => h("td", {}, cell))));
  return h("div", { class: "scroll" }, h("table", { class: name },
    head ? headRow(head.map((text) => [text])) : null, h("tbody", {}, body)));
}

// Shows what stands between backticks as code.
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

function summarySection(payload) {
  const { runs } = payload;
  const many = runs.length > 1;
  const headlines = runs.map((run) => h("p", { class: "headline" }, many ? h("b", {}, `${run.name}: `) : null,
    run.headline?.text ?? "No held-out pass rate yet.",
    run.finished ? null : h("span", { class: "unfinished" }, "not finished")));
  const rates = runs.flatMap((run) => [run.headline?.before, run.headline?.after].filter(Boolean).map((one) =>
    [many ? `${run.name}, ${one.label}` : one.label, one.greedy ?? NONE, one.sampled ?? NONE, numberText(one.n)]));
  return section("summary", "Summary", headlines,
    rates.length ? table("rates", ["Held-out pass rate", "Greedy", "Sampled", "Problems"], rates) : null,
    factsOf(runs),
    runs.map((run) => h("details", {},
      h("summary", {}, many ? `Configuration of ${run.name}` : "Configuration"),
      h("pre", {}, run.config || "not stored"))),
    note(withCode(madeText(payload))));
}

// One run: a list in columns. Several: a table in which what differs stands out.
function factsOf(runs) {
  if (runs.length === 1) {
    return h("dl", { class: "facts" }, runs[0].facts.map(([label, text]) =>
      h("div", {}, h("dt", {}, label), h("dd", {}, text))));
  }
  const labels = [...new Set(runs.flatMap((run) => run.facts.map(([label]) => label)))];
  const textOf = (run, label) => run.facts.find(([name]) => name === label)?.[1] ?? NONE;
  const rows = labels.map((label) => [label, ...runs.map((run) => textOf(run, label))]);
  return table("facts", ["", ...runs.map((run) => run.name)], rows);
}

function madeText({ made, version, refresh_s: refreshes, notes }) {
  const time = String(made).replace("T", " ").replace(/(\.\d+)?(\+00:00|Z)$/, " UTC");
  const again = refreshes ? `Refreshes every ${numberText(refreshes)} s.` : null;
  return [`Made ${time} by rlvr ${version}.`, again, ...(notes ?? [])].filter(Boolean).join(" ");
}

function warningsSection(runs) {
  const rank = ({ level }) => Object.keys(LEVELS).indexOf(level);
  const all = runs.flatMap((run) => (run.warnings ?? []).map((warning) => ({ ...warning, run: run.name })))
    .sort((a, b) => rank(a) - rank(b));
  if (all.length === 0) return section("warnings", "Warnings", note("Nothing stood out in metrics and evaluations."));
  const look = (metric) => {
    choose({ find: metric });
    document.getElementById("training").scrollIntoView();
  };
  return section("warnings", "Warnings", h("ul", { class: "warnings" }, all.map((one) => {
    const [mark, level] = LEVELS[one.level] ?? LEVELS.note;
    const where = [runs.length > 1 ? one.run : null, isNumber(one.step) ? `step ${one.step}` : null].filter(Boolean);
    const isDrawn = one.metric && runs.some((run) => metricValues(run, one.metric).some(isNumber));
    const button = () =>
      h("button", { type: "button", class: "link", onclick: () => look(one.metric) }, `Show ${one.metric}`);
    return h("li", { class: `level-${one.level}` },
      h("p", { class: "level" }, h("span", { "aria-hidden": "true" }, mark), ` ${level}`),
      h("div", {}, h("h3", {}, one.title), h("p", {}, withCode(one.text)),
        h("p", { class: "where" }, where.join(", "), isDrawn ? button() : null)));
  })));
}

function costSection(runs) {
  const failures = runs.flatMap((run) => (run.failures ?? []).map((one) => [
    (runs.length > 1 ? `${run.name}: ` : "") + one.what,
    [isNumber(one.count) ? numberText(one.count) : null, isNumber(one.share) ? percentText(one.share) : null]
      .filter(Boolean).join(", ") || NONE,
    one.text,
  ]));
  const timed = runs.filter((run) => run.times?.length);
  const stages = [...new Set(timed.flatMap((run) => run.times.map((one) => one.stage)))];
  const colour = (stage) => (stage === "other" ? "#a0a0a0" : TIME_COLOURS[stages.indexOf(stage) % TIME_COLOURS.length]);
  return section("cost", "Failures and time",
    failures.length ? table("failures", ["What failed", "How often", "What it means"], failures)
      : note("No verifier, sandbox or update failed."),
    timed.map((run) => timeBar(run.times, runs.length > 1 ? run.name : "", colour)),
    timed.length ? null : note("No times yet."));
}

function timeBar(times, name, colour) {
  const total = times.reduce((sum, one) => sum + one.seconds, 0);
  const bar = times.map((one) => h("div", {
    title: `${one.stage}: ${durationText(one.seconds)}, ${percentText(one.share)}`,
    style: { "flex-grow": one.seconds / (total || 1), "background-color": colour(one.stage) },
  }));
  const items = times.map((one) => h("li", {},
    h("span", { class: "dot", style: { "background-color": colour(one.stage) } }), h("span", {}, one.stage),
    h("b", {}, durationText(one.seconds)), h("span", { class: "share" }, percentText(one.share))));
  return h("div", { class: "time" },
    h("p", {}, name ? h("b", {}, `${name}: `) : null, `${durationText(total)} in all`),
    h("div", { class: "stack", "aria-hidden": "true" }, bar), h("ul", { class: "stages" }, items));
}

function comparisonSection(comparison) {
  if (!comparison) return null;
  const rows = comparison.rows.map((row) => [row.label, row.a || NONE, row.b || NONE, row.difference || NONE]);
  return section("comparison", "Comparison", h("p", { class: "headline" }, comparison.sentence),
    rows.length ? table("comparison", ["", comparison.a, comparison.b, "Difference"], rows) : null);
}
