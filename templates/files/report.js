/* Script of report.html: a click on a column's heading sorts the table by it. The page is complete without it. */
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
