// A response as text: every token on the colour of one of its numbers.

const POSITIVE = "0 114 178";
const NEGATIVE = "213 94 0";
// around: diverging from this value (1 on a logarithmic scale); hue: from `from` or the lowest value upwards.
// floor: the scale spans at least this much, so that noise is not painted like a finding.
const COLOURINGS = {
  advantage: {
    name: "Advantage", around: 0, floor: 1e-6,
    meaning: "How much better things went from this token on than the critic, or without one the group or nothing, " +
      "led to expect, as the update saw it: blue tokens were pushed up, orange ones down.",
    ofProbe: "How much better things went from this token on than the critic, or without one the group or nothing, " +
      "led to expect: training would push blue tokens up, orange ones down.",
  },
  value: {
    name: "Value", hue: "0 158 115", floor: 1e-6,
    meaning: "What the critic expected the response to earn from here on, before this token was drawn.",
  },
  kl_token: {
    name: "KL (k1)", around: 0, floor: 1e-3,
    meaning: "log policy - log reference of the drawn token in nats. Blue: likelier under the policy than under the " +
      "reference.",
  },
  exact_kl: {
    name: "Exact KL", hue: "204 121 167", from: 0, floor: 1e-3,
    meaning: "KL of the policy from the reference at this place, summed over the vocabulary, in nats.",
  },
  ratio: {
    name: "Ratio", around: 1, floor: 0.01, needsUpdate: true,
    meaning: "New probability over old when the update last saw the token, on a logarithmic scale. " +
      "Blue: the update made it likelier.",
  },
  entropy: {
    name: "Entropy", hue: "230 159 0", from: 0, floor: 1e-2,
    meaning: "Entropy of the next-token distribution in nats: where the policy hesitated.",
  },
};
// Invisible, unpaired and direction-changing characters could hide or reorder text; joiners inside emoji stay.
const UNSEEN = "(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Cs}\\u2028\\u2029]|" +
  "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\uffa0\\ufe00-\\ufe0d\\u{e0100}-\\u{e01ef}]";
const PIECES = new RegExp(`\\n|\\t|${UNSEEN}`, "gu");

// Returns nodes that show `text` as it is: line ends and tabs marked, unseen characters spelled out.
function readable(text, limit = 20000) {
  const shown = text.length > limit ? text.slice(0, limit) : text;
  const nodes = [];
  let from = 0;
  for (const { 0: char, index } of shown.matchAll(PIECES)) {
    if (index > from) nodes.push(shown.slice(from, index));
    from = index + char.length;
    const code = char.codePointAt(0);
    if (char === "\n") nodes.push(h("i", { class: "newline" }, char));
    else if (char === "\t") nodes.push(h("i", { class: "tab" }, char));
    else if (code < 32) nodes.push(h("i", { class: "unseen" }, String.fromCharCode(0x2400 + code)));
    else nodes.push(h("i", { class: "unseen" }, `U+${code.toString(16).toUpperCase().padStart(4, "0")}`));
  }
  if (from < shown.length) nodes.push(shown.slice(from));
  if (text.length > limit) nodes.push(h("i", { class: "unseen" }, ` ... ${numberText(text.length)} characters in all`));
  return nodes;
}

// Returns {colour(value), legend: [low, middle, high], gradient} that fits the numbers `key` of `responses`.
function colourScale(key, responses) {
  const { around, hue, from, floor } = COLOURINGS[key];
  const isLog = around === 1;
  const convert = isLog ? Math.log : (value) => value;
  const all = responses.flatMap((one) => one[key] ?? []).filter((v) => isNumber(v) && (!isLog || v > 0)).map(convert);
  const sizes = (hue ? all : all.map(Math.abs)).sort((a, b) => a - b);
  // One outlier must not wash out the rest: the strongest colour begins at the 99th percentile.
  const top = sizes[Math.max(0, Math.ceil(0.99 * sizes.length) - 1)] ?? 0;
  const low = hue ? from ?? sizes[0] ?? 0 : 0;
  const high = Math.max(top, low + floor);
  // --strength is the theme's: as much colour as leaves the text readable.
  const paint = (t) => {
    const share = Math.min(1, Math.abs(t)).toFixed(3);
    return `rgb(${hue ?? (t < 0 ? NEGATIVE : POSITIVE)} / calc(${share} * var(--strength)))`;
  };
  const text = (value) => numberText(isLog ? Math.exp(value) : value, 3);
  const [least, most] = sizes.length && sizes.at(-1) > high * 1.0001 ? ["\u2264 ", "\u2265 "] : ["", ""];
  const stops = (hue ? [0, 0.5, 1] : [-1, -0.5, 0, 0.5, 1]).map(paint);
  return {
    colour: (value) => {
      if (!isNumber(value) || (isLog && value <= 0)) return "";
      const t = (convert(value) - low) / (high - low);
      return paint(hue ? Math.max(0, t) : t);
    },
    legend: [hue ? text(low) : least + text(-high), text(hue ? (low + high) / 2 : 0), most + text(high)],
    gradient: `linear-gradient(to right, ${stops.join(", ")})`,
  };
}

function cumulative(rewards) {
  let sum = 0;
  return rewards.map((reward) => {
    // Tokens that were left out leave the sum after them unknown.
    sum = isNumber(reward) && sum !== null ? sum + reward : null;
    return sum;
  });
}

// Returns {place(i), index(place)}: where in the full response its i-th token here stands, counted from 1.
function placesOf(response) {
  const gap = response.omitted ? response.tokens.findIndex((text) => text.includes("tokens left out")) : -1;
  const skipped = gap < 0 ? 0 : response.omitted - 1;
  return {
    gap,
    place: (i) => i + 1 + (skipped && i > gap ? skipped : 0),
    index: (place) => place - 1 - (skipped && place > gap + 1 ? skipped : 0),
  };
}

function tokenSpan(response, text, i, gap) {
  const isBlank = /^ +$/.test(text);
  const classes = ["token"];
  if (response.mask?.[i] === false) classes.push("fed");
  if (i === gap) classes.push("gap");
  const space = () => h("i", { class: "space" }, " ");
  const nodes = isBlank ? Array.from({ length: Math.min(400, text.length) }, space) : readable(text, 400);
  return h("span", { class: classes.join(" "), tabindex: i === 0 ? "0" : "-1", "data-i": i }, nodes);
}

// Returns {root, paint(scale, key), activate(i)}.
// onToken({response, i, place, soFar}) follows the pointer, the focus and the charts.
// peers: the responses shown together, which share the charts' y axes.
function tokenView(response, name, peers, onToken) {
  const { gap, place, index } = placesOf(response);
  const spans = response.tokens.map((text, i) => tokenSpan(response, text, i, gap));
  const label = `${name}: ${spans.length} tokens, arrow keys move between them`;
  const text = h("div", { class: "tokens", role: "group", "aria-label": label }, spans);
  const rewards = cumulative(response.reward_token ?? []);
  const group = chartGroup();
  group.extent = [1, Math.max(2, place(spans.length - 1))];
  group.format = (value) => numberText(value);
  group.leastStep = 1;
  const figures = creditCharts(response, peers, place, group);
  let active = 0;

  function activate(i) {
    if (!spans[i]) return;
    spans[active].classList.remove("active");
    spans[active].setAttribute("tabindex", "-1");
    active = i;
    spans[i].classList.add("active");
    spans[i].setAttribute("tabindex", "0");
    onToken({ response, i, place: place(i), soFar: rewards[i] });
  }

  const reach = (event) => {
    const i = event.target.closest?.("[data-i]")?.dataset.i;
    if (i === undefined) return;
    activate(Number(i));
    group.point(place(Number(i)));
  };
  text.addEventListener("pointerover", reach);
  text.addEventListener("focusin", reach);
  text.addEventListener("keydown", (event) => {
    const to = { ArrowRight: active + 1, ArrowLeft: active - 1, Home: 0, End: spans.length - 1 }[event.key];
    if (!spans[to] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    spans[to].focus();
  });
  group.onCursor = (x) => {
    if (x !== null && index(x) !== active) activate(index(x));
  };
  return {
    root: h("div", { class: "token-view" }, text, figures.length ? figures : note("No value or advantage is stored.")),
    activate,
    paint: (scale, key) => spans.forEach((span, i) => {
      span.style.setProperty("background-color", scale.colour(response[key]?.[i]));
    }),
  };
}

// How the reward at the end became credit for each token: what was expected, what came, and the difference.
function creditCharts(response, peers, place, group) {
  const charts = [
    [130, [
      { name: "value", colour: "#009E73", of: (one) => one.value },
      { name: "return", colour: "#E69F00", dash: "6 3", of: (one) => one.return },
      { name: "reward so far", colour: "#0072B2", of: (one) => cumulative(one.reward_token ?? []) }]],
    [84, [{ name: "advantage", colour: "#CC79A7", area: true, of: (one) => one.advantage }]],
  ];
  return charts.flatMap(([height, forms]) => {
    const lines = forms
      .map((form) => ({ ...form, points: (form.of(response) ?? []).map((y, i) => ({ x: place(i), y })) }))
      .filter(({ points }) => points.some(({ y }) => isNumber(y)));
    if (lines.length === 0) return [];
    const all = forms.flatMap(({ of }) => peers.flatMap((peer) => of(peer) ?? [])).filter(isNumber);
    const cover = [0, highest(all), -highest(all.map((value) => -value))];
    const label = `${lines.map(({ name }) => name).join(", ")} along the tokens`;
    const { root } = lineChart(group, { label, height, series: () => lines, y: () => ({ format: shortText, cover }) });
    const keys = lines.map(({ name, colour, dash }) => h("span", {}, swatch(colour, dash), name));
    return [h("figure", {}, h("figcaption", { class: "keys" }, keys), root)];
  });
}

const TOKEN_NUMBERS = [
  ["probability", "logprob"], ["log-prob", "logprob"], ["ref. log-prob", "ref_logprob"], ["KL (k1)", "kl_token"],
  ["exact KL", "exact_kl"], ["ratio", "ratio"], ["entropy", "entropy"], ["value", "value"], ["reward", "reward_token"],
  ["reward so far", "reward_token"], ["return", "return"], ["advantage", "advantage"],
];

// Returns {root, show(what tokenView reports)}: every number of one token.
function numbersPanel() {
  const rows = TOKEN_NUMBERS.map(([name]) => h("div", {}, h("dt", {}, name), h("dd", { "data-number": name })));
  const title = h("p", { class: "token-title" });
  const root = h("aside", { class: "numbers", "aria-label": "Numbers of the token", "aria-live": "polite" },
    title, h("dl", {}, rows));
  const show = ({ response, i, place, soFar }) => {
    title.replaceChildren(h("code", {}, readable(response.tokens[i], 60)), ` token ${numberText(place)}`);
    TOKEN_NUMBERS.forEach(([name, key], row) => {
      const value = response[key]?.[i];
      rows[row].hidden = !response[key];
      rows[row].lastChild.textContent = name === "reward so far" ? numberText(soFar)
        : name === "probability" ? percentText(isNumber(value) ? Math.exp(value) : null) : numberText(value);
    });
  };
  return { root, show };
}
