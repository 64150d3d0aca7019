/* Script of report.html: a click on a column's heading sorts the table by it, one on a row shows all of it, and the
   graph can be made larger and smaller. The page is complete without it. */
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const first = Array.from(body.rows);
  const key = (row, column) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
  table.tHead.addEventListener("click", (event) => {
    const heading = event.target.closest("th");
    if (!heading) return;
    const numeric = heading.classList.contains("n");
    const orders = numeric ? ["down", "up", ""] : ["up", "down", ""];
    const order = orders[(orders.indexOf(heading.dataset.order || "") + 1) % 3];
    for (const other of table.tHead.rows[0].cells) other.dataset.order = "";
    heading.dataset.order = order;
    const rows = first.slice();
    if (order) rows.sort((a, b) => compare(key(a, heading.cellIndex), key(b, heading.cellIndex)));
    if (order === "down") rows.reverse();
    body.append(...rows);
  });
}
for (const row of document.querySelectorAll(".layers tbody tr")) {
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a")) row.classList.toggle("open");
  });
}
const picture = document.getElementById("picture");
if (picture) {
  const panel = picture.parentElement;
  const natural = picture.viewBox.baseVal;
  let scale = 1;
  // Keeps what is in the middle, or at `x` and `y` of the panel, where it is.
  const zoom = (next, x = panel.clientWidth / 2, y = panel.clientHeight / 2) => {
    next = Math.min(4, Math.max(0.1, next));
    const left = (panel.scrollLeft + x) / scale;
    const top = (panel.scrollTop + y) / scale;
    scale = next;
    picture.setAttribute("width", natural.width * scale);
    picture.setAttribute("height", natural.height * scale);
    panel.scrollLeft = left * scale - x;
    panel.scrollTop = top * scale - y;
  };
  const whole = () => Math.min(1, (panel.clientWidth - 24) / natural.width);
  const tools = document.createElement("div");
  tools.className = "tools";
  const actions = [["+", "larger", () => scale * 1.25], ["\u2212", "smaller", () => scale / 1.25],
                   ["1:1", "as drawn", () => 1], ["fit", "the whole width", whole]];
  for (const [label, title, next] of actions) {
    const button = document.createElement("button");
    button.textContent = label;
    button.title = title;
    button.addEventListener("click", () => zoom(next()));
    tools.append(button);
  }
  panel.prepend(tools);
  panel.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = panel.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  if (whole() > 0.75) zoom(whole());
}
