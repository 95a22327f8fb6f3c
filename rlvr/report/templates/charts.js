// Line charts as SVG. Charts of one group share the x range, the zoom and the crosshair.

function chartGroup() {
  const group = { charts: [], extent: [0, 1], zoom: null, cursor: null, format: shortText, leastStep: 0 };
  let queued = false;
  group.range = () => group.zoom ?? group.extent;
  group.draw = () => group.charts.forEach((chart) => chart.draw());
  group.zoomTo = (range) => {
    group.zoom = range;
    group.draw();
    group.onZoom?.(range);
  };
  group.point = (x) => {
    group.cursor = x;
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      for (const chart of group.charts) chart.point();
      group.onCursor?.(group.cursor);
    });
  };
  return group;
}

// Returns round numbers in [low, high], about `count` of them and at least `leastStep` apart.
function ticks(low, high, count, leastStep = 0) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(leastStep, power * ([1, 2, 5].find((factor) => factor * power >= raw * 0.75) ?? 10));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(low, high) {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const decades = Math.log10(high / low);
  const factors = decades > 3 ? [1] : decades > 1.4 ? [1, 3] : [1, 2, 5];
  const all = [];
  for (let power = from; power <= to; power += Math.max(1, Math.floor((to - from) / 5))) {
    for (const factor of factors) all.push(Number((factor * 10 ** power).toPrecision(3)));
  }
  const inside = all.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  return inside.length > 1 ? inside : ticks(low, high, 2).filter((tick) => tick > 0);
}

// Returns the point of `points` (sorted by x) that is nearest to x, or null.
function nearest(points, x) {
  if (points.length === 0) return null;
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].x <= x) low = middle;
    else high = middle;
  }
  return Math.abs(points[low].x - x) <= Math.abs(points[high].x - x) ? points[low] : points[high];
}

function linePath(points, sx, sy) {
  let path = "";
  let pen = "M";
  for (const point of points) {
    if (!isNumber(point.y)) pen = "M";
    else {
      path += `${pen}${sx(point.x).toFixed(1)} ${sy(point.y).toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}

function bandPath(points, sx, sy) {
  const edge = points.filter((point) => isNumber(point.low) && isNumber(point.high));
  if (edge.length < 2) return "";
  const up = edge.map((point) => `${sx(point.x).toFixed(1)} ${sy(point.high).toFixed(1)}`);
  const down = edge.map((point) => `${sx(point.x).toFixed(1)} ${sy(point.low).toFixed(1)}`).reverse();
  return `M${up.join("L")}L${down.join("L")}Z`;
}

function yRange(series, [x0, x1], y) {
  let [low, high] = [y.min ?? Infinity, y.max ?? -Infinity];
  for (const { points } of series) {
    for (const point of points) {
      if (point.x < x0 || point.x > x1) continue;
      for (const value of [point.y, point.low, point.high]) {
        if (!isNumber(value) || (y.log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
  }
  if (low > high) return null;
  for (const value of y.cover ?? []) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high && y.log) return [low / 2, high * 2];
  if (low === high) return [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  if (y.log) return [low / 1.1, high * 1.1];
  const pad = (high - low) * 0.06;
  return [y.min ?? low - pad, y.max ?? high + pad];
}

// Returns an element with one chart, drawn by its group.
// series(): [{colour, dash, width, marker, alone, area, points: [{x, y, low, high}]}]; alone: points without a line.
// y(): {format, min, max, cover (values that must fit), log}. onPoint(null | [{series, point}]) follows the crosshair.
function lineChart(group, { label, height, small, series, y, onPoint }) {
  const root = svg("svg", { class: small ? "chart small" : "chart", height, role: "img", "aria-label": label });
  if (!small) root.setAttribute("tabindex", "0");
  const left = small ? 48 : 46;
  const [top, right, bottom] = [6, 6, small ? 18 : 22];
  const marks = svg("g");
  const selection = svg("rect", { class: "selection", y: 0, height: height - top - bottom });
  let drawn = null;

  function draw() {
    const width = root.clientWidth;
    if (width < left + right + 20) return;
    const inner = { width: width - left - right, height: height - top - bottom };
    const shown = series();
    const [x0, x1] = group.range();
    const form = y();
    const bounds = yRange(shown, [x0, x1], form);
    root.replaceChildren();
    // On paper the page is narrower than it was when drawn: the chart shrinks as a whole.
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawn = null;
    if (!bounds) {
      root.append(svg("text", { x: left, y: height / 2, class: "tick" }, "nothing to draw in this range"));
      return;
    }
    const scale = form.log ? Math.log10 : (value) => value;
    const [y0, y1] = bounds.map(scale);
    const sx = (x) => 5 + ((x - x0) / (x1 - x0 || 1)) * (inner.width - 10);
    const sy = (value) => inner.height * (1 - (scale(value) - y0) / (y1 - y0));
    const back = (place) => x0 + ((place - left - 5) / (inner.width - 10)) * (x1 - x0);
    const grid = svg("g", { class: "grid" });
    for (const tick of form.log ? logTicks(...bounds) : ticks(...bounds, inner.height / (small ? 30 : 38))) {
      const place = top + sy(tick);
      grid.append(
        svg("line", { x1: left, x2: width - right, y1: place, y2: place, class: tick === 0 ? "zero" : null }),
        svg("text", { x: left - 6, y: place + 3.5, class: "tick", "text-anchor": "end" }, form.format(tick)));
    }
    for (const tick of ticks(x0, x1, inner.width / (small ? 62 : 86), group.leastStep)) {
      const place = left + sx(tick);
      const anchor = place > width - right - 14 ? "end" : "middle";
      grid.append(
        svg("line", { x1: place, x2: place, y1: height - bottom, y2: height - bottom + 4 }),
        svg("text", { x: anchor === "end" ? width - 1 : place, y: height - 4, class: "tick x", "text-anchor": anchor },
          group.format(tick)));
    }
    const plot = svg("svg", { x: left, y: top, width: inner.width, height: inner.height });
    for (const { points, colour } of shown) {
      plot.append(svg("path", { d: bandPath(points, sx, sy), fill: colour, class: "band" }));
    }
    for (const one of shown) plot.append(...curve(one, sx, sy, inner));
    plot.append(marks);
    root.append(grid, plot);
    const places = [...new Set(shown.flatMap((one) => one.points.map((p) => p.x)))];
    drawn = { shown, sx, sy, back, inner, places: places.filter((x) => x >= x0 && x <= x1).sort((a, b) => a - b) };
    point();
  }

  function point() {
    marks.replaceChildren();
    const x = group.cursor;
    const hits = [];
    if (drawn && x !== null) {
      const place = drawn.sx(x);
      marks.append(svg("line", { class: "cross", x1: place, x2: place, y1: 0, y2: drawn.inner.height }));
      for (const one of drawn.shown) {
        const hit = nearest(one.points, x);
        if (!hit || !isNumber(hit.y)) continue;
        hits.push({ series: one, point: hit });
        const at = { cx: drawn.sx(hit.x), cy: drawn.sy(hit.y) };
        marks.append(svg("circle", { ...at, r: 3.5, fill: one.colour, class: "hit" }));
      }
    }
    onPoint?.(hits.length ? hits : null);
  }

  listenToPointer(root, group, () => drawn, { left, selection, marks });
  root.addEventListener("keydown", (event) => chartKey(event, group, drawn));
  new ResizeObserver(draw).observe(root);
  const chart = { root, draw, point };
  group.charts.push(chart);
  return chart;
}

function curve(one, sx, sy, inner) {
  const parts = [];
  if (one.area && one.points.length) {
    const zero = Math.min(inner.height, Math.max(0, sy(0)));
    const line = linePath(one.points, sx, sy);
    const ends = [one.points.at(-1), one.points[0]].map((p) => sx(p.x).toFixed(1));
    const area = `${line}L${ends[0]} ${zero}L${ends[1]} ${zero}Z`;
    if (line) parts.push(svg("path", { d: area, fill: one.colour, class: "band" }));
  }
  if (!one.alone) {
    parts.push(svg("path", { d: linePath(one.points, sx, sy), class: "line", stroke: one.colour,
      "stroke-width": one.width ?? 1.75, "stroke-dasharray": one.dash }));
  }
  const real = one.points.filter((p) => isNumber(p.y));
  if (one.marker || real.length === 1) {
    for (const p of real) {
      if (one.alone && isNumber(p.low)) {
        parts.push(svg("line", { x1: sx(p.x), x2: sx(p.x), y1: sy(p.low), y2: sy(p.high), stroke: one.colour }));
      }
      parts.push(svg("circle", { cx: sx(p.x), cy: sy(p.y), r: one.alone ? 3.5 : 2.5, stroke: one.colour,
        "stroke-width": 1.5, class: "marker" }));
    }
  }
  return parts;
}

function listenToPointer(root, group, drawn, { left, selection, marks }) {
  let start = null;
  const place = (event) => event.clientX - root.getBoundingClientRect().left;
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || !drawn()) return;
    start = place(event);
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    const now = drawn();
    if (!now) return;
    if (start !== null && Math.abs(place(event) - start) > 4) {
      const [from, to] = [start, place(event)].sort((a, b) => a - b);
      selection.setAttribute("x", from - left);
      selection.setAttribute("width", to - from);
      marks.append(selection);
      return;
    }
    const x = now.back(place(event));
    const snapped = nearest(now.places.map((value) => ({ x: value })), x);
    if (snapped && snapped.x !== group.cursor) group.point(snapped.x);
  });
  root.addEventListener("pointerup", (event) => {
    const from = start;
    start = null;
    selection.remove();
    if (from === null || !drawn() || Math.abs(place(event) - from) <= 4) return;
    const [low, high] = group.range();
    const ends = [from, place(event)].map((value) => Math.min(high, Math.max(low, drawn().back(value))));
    group.zoomTo(ends.sort((a, b) => a - b));
  });
  root.addEventListener("pointerleave", () => {
    if (start === null) group.point(null);
  });
  root.addEventListener("dblclick", () => group.zoomTo(null));
}

function chartKey(event, group, drawn) {
  if (!drawn || event.ctrlKey || event.metaKey || event.altKey) return;
  const [low, high] = group.range();
  const middle = group.cursor ?? (low + high) / 2;
  const at = drawn.places.indexOf(group.cursor);
  const moves = {
    ArrowRight: () => group.point(drawn.places[Math.min(drawn.places.length - 1, at + 1)]),
    ArrowLeft: () => group.point(drawn.places[at < 0 ? drawn.places.length - 1 : Math.max(0, at - 1)]),
    "+": () => group.zoomTo([Math.max(low, middle - (high - low) / 4), Math.min(high, middle + (high - low) / 4)]),
    "-": () => group.zoomTo(null),
    Escape: () => (group.zoom ? group.zoomTo(null) : group.point(null)),
  };
  if (!moves[event.key] || drawn.places.length === 0) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
}
