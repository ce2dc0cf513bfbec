// Sorts a table by the column whose head is clicked, and again for the other direction.
// Without JavaScript the tables keep the order of the page.
"use strict";

// The number at the beginning of a cell, or its text.
function value(row, column) {
    const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
}

function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one.localeCompare(other);
}

for (const table of document.querySelectorAll("main table")) {
    table.querySelectorAll("thead th").forEach((head, column) => {
        head.tabIndex = 0;
        head.style.cursor = "pointer";
        const sort = () => {
            const down = head.getAttribute("aria-sort") === "ascending";
            table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
            const body = table.tBodies[0];
            const rows = [...body.rows].sort((a, b) => compare(value(a, column), value(b, column)));
            body.append(...(down ? rows.reverse() : rows));
        };
        head.addEventListener("click", sort);
        head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
}
