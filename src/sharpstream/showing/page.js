// Draws the figures in the colours of the theme, changes the theme, and lets the reader be walked by mouse or arrow keys.
"use strict";
const root = document.documentElement;
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
root.dataset.theme = prefersDark ? "dark" : "light";

function colours() {
  const style = getComputedStyle(root);
  const ink = style.getPropertyValue("--ink").trim(), line = style.getPropertyValue("--line").trim();
  return { ink, line };
}

function draw() {
  const { ink, line } = colours();
  for (const source of document.querySelectorAll("script[data-plot]")) {
    const drawing = JSON.parse(source.textContent);
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
    const layout = Object.assign({ margin: { l: 60, r: 15, t: 30, b: 45 }, hovermode: "closest" }, drawing.layout);
    layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
    layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: ink };
    layout.font = { color: ink, size: 13 };
    layout.xaxis = Object.assign({}, axis, layout.xaxis);
    layout.yaxis = Object.assign({}, axis, layout.yaxis);
    Plotly.react(source.dataset.plot, drawing.data, layout, { responsive: true, displaylogo: false });
  }
}

function walk(reader) {
  const told = reader.nextElementSibling, spans = Array.from(reader.querySelectorAll("span"));
  let at = -1;
  function go(to) {
    if (to < 0 || to >= spans.length) return;
    if (at >= 0) spans[at].classList.remove("at");
    at = to;
    spans[at].classList.add("at");
    told.textContent = spans[at].dataset.told;
  }
  reader.addEventListener("mouseover", (event) => go(spans.indexOf(event.target)));
  reader.addEventListener("click", (event) => go(spans.indexOf(event.target)));
  reader.addEventListener("focus", () => { if (at < 0) go(0); });
  reader.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: spans.length - 1 - at }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(at + step);
  });
}

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  draw();
});
document.querySelectorAll(".reader").forEach(walk);
draw();
