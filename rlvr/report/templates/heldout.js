// Greedy responses to the same held-out problems at one evaluation after the other.

function heldOutSection(runs) {
  const problems = runs.flatMap((run) => (run.heldout ?? []).map((problem) => ({ ...problem, run: run.name })))
    .filter((problem) => problem.answers.length);
  if (problems.length === 0) return null;
  const label = (problem) => {
    const marks = problem.answers.map((answer) => outcomeMark(answer.outcome)).join(" ");
    return `${marks}  ${runs.length > 1 ? `${problem.run}: ` : ""}${oneLine(problem.prompt, 60)}`;
  };
  const labels = problems.map((problem, i) => [i, label(problem)]);
  const chosen = () => Math.max(0, Math.min(problems.length - 1, Number(choices.held) || 0));
  const picker = stepper(["Problem", "Previous problem", "Next problem"], (i) => choose({ held: i }),
    (by) => choose({ held: chosen() + by }));
  const body = h("div");
  const show = () => {
    const { id, prompt, answers } = problems[chosen()];
    picker.show(labels, chosen());
    body.replaceChildren(problemBox(id, prompt), h("div", { class: "answers" }, answers.map((answer) =>
      h("article", {},
        h("h3", {}, `${answer.phase.toUpperCase()}, step ${answer.step}`, badge(answer.outcome)),
        h("p", { class: "detail" }, readable(String(answer.detail ?? ""), 600)),
        h("pre", {}, readable(answer.text)),
        answer.finish === "length" ? note("Cut by the length limit.") : null))));
  };
  whenChosen(["held"], show);
  show();
  return section("heldout", "Held-out problems", h("div", { class: "controls" }, picker.root), body,
    note("Greedy responses to the same problem; the marks in the list run from the first evaluation to the last."));
}
