// Opens the payload and lays the page out.

async function openPayload() {
  if (!("DecompressionStream" in window)) throw new Error("this page needs a browser of 2023 or later");
  const packed = atob(document.getElementById("payload").textContent.trim());
  const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function layOut(payload) {
  const { runs } = payload;
  Object.assign(choices, readHash());
  const group = chartGroup();
  followAxis(runs, group);
  const sections = [
    summarySection(payload), warningsSection(runs), curvesSection(runs, group),
    trainingSection(runs, payload.meanings ?? {}, group), costSection(runs), comparisonSection(payload.comparison),
    browserSection(runs), heldOutSection(runs),
  ].filter(Boolean);
  document.getElementById("loading").remove();
  document.getElementById("main").append(...sections);
  returnToPlace(payload.refresh_s);
  followReading(sections, document.getElementById("nav"));
  addEventListener("hashchange", () => choose(readHash()));
  if (payload.refresh_s) setTimeout(reload, 1000 * payload.refresh_s);
  document.documentElement.dataset.ready = "true";
}

// Keeps the shared x range of the training charts to the chosen axis and zoom.
function followAxis(runs, group) {
  const fit = () => {
    const ends = choices.zoom.split("~").map(Number);
    const axis = axisOf(runs);
    group.extent = xExtent(runs, axis);
    group.leastStep = axis.key === "wall_s" ? 0 : 1;
    group.zoom = ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? ends : null;
  };
  fit();
  group.onZoom = (range) => choose({ zoom: range ? range.map((end) => Number(end.toPrecision(6))).join("~") : "" });
  whenChosen(["x", "zoom"], (changed) => {
    if (changed.includes("x") && !changed.includes("zoom")) choose({ zoom: "" });
    fit();
    group.cursor = null;
    group.draw();
  });
}

// Keeps the part of the page that is being read in the hash, so that a copied link opens there.
function followReading(sections, nav) {
  const links = sections.map((one) => {
    const heading = one.querySelector("h2");
    const jump = (event) => {
      event.preventDefault();
      one.scrollIntoView();
      heading.focus({ preventScroll: true });
    };
    return h("a", { href: `#at=${one.id}`, onclick: jump }, heading.textContent);
  });
  nav.replaceChildren(...links);
  const seen = new IntersectionObserver((entries) => {
    const entered = entries.find((entry) => entry.isIntersecting)?.target;
    if (!entered) return;
    choose({ at: entered === sections[0] ? "" : entered.id });
    links.forEach((link, i) => link.setAttribute("aria-current", sections[i] === entered));
  }, { rootMargin: "-20% 0px -79% 0px" });
  sections.forEach((one) => seen.observe(one));
}

function reload() {
  remember(`rlvr-scroll ${location.pathname}`, String(scrollY));
  location.reload();
}

function returnToPlace(refreshes) {
  const place = refreshes ? remembered(`rlvr-scroll ${location.pathname}`) : null;
  if (place !== null) scrollTo({ top: Number(place), behavior: "instant" });
  else if (choices.at) document.getElementById(choices.at)?.scrollIntoView({ behavior: "instant" });
}

themeButton(document.getElementById("theme"));
try {
  layOut(await openPayload());
} catch (error) {
  document.getElementById("loading")?.replaceChildren(h("p", {}, `This report could not be opened: ${error.message}`));
  throw error;
}
