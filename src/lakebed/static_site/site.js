// What pages of the site do beside being read: find tables and columns, open nested columns, compare versions.
// Nothing is asked of any server; texts are put in as texts, whatever they hold.
"use strict";

const byId = (id) => document.getElementById(id);
const data = (id) => JSON.parse(byId(id).textContent);
const words = (box) => box.value.toLowerCase().split(/\s+/).filter(Boolean);

function make(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// A box that is shown where there is a script; "/" goes to it, Escape empties it.
function finder(box, find) {
  box.closest(".finder").hidden = false;
  box.addEventListener("input", find);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
    } else if (event.key === "Escape" && event.target === box) {
      box.value = "";
      find();
    }
  });
  if (box.value) find();
}

const MOST_HITS = 6;

function findTables(box) {
  const columns = data("columns").map((ofTable) =>
    ofTable.map((column) => ({ column, text: column.slice(0, 3).join(" ").toLowerCase() })));
  const rows = [...byId("tables").tBodies[0].rows].map((row, i) => ({
    row, columns: columns[i], text: row.textContent.toLowerCase(), link: row.querySelector("a"),
  }));

  function hits(entry, wanted) {
    // Each word is in what is told of the table, or in one of its columns; the columns that have such a word are shown.
    const missing = wanted.filter((word) => !entry.text.includes(word));
    const found = entry.columns.filter(({ text }) => wanted.some((word) => text.includes(word)));
    return missing.every((word) => found.some(({ text }) => text.includes(word))) ? found : null;
  }

  finder(box, () => {
    const wanted = words(box);
    let count = 0;
    for (const entry of rows) {
      entry.row.querySelector(".hits")?.remove();
      const found = wanted.length ? hits(entry, wanted) : [];
      entry.row.hidden = found === null;
      if (found === null) continue;
      count += 1;
      if (!found.length) continue;
      const list = make("ul", "", { class: "hits" });
      for (const { column: [path, type, , anchor] } of found.slice(0, MOST_HITS)) {
        const item = make("li", "");
        item.append(make("a", path, { href: `${entry.link.getAttribute("href")}#${anchor}` }), ` ${type}`);
        list.append(item);
      }
      if (found.length > MOST_HITS) list.append(make("li", `and ${found.length - MOST_HITS} more`));
      entry.row.cells[0].append(list);
    }
    byId("found").textContent = wanted.length ? `${count} of ${rows.length} tables` : "";
  });
}

function nestColumns(table) {
  const rows = [...table.tBodies[0].rows];
  const byName = new Map(rows.map((row) => [row.id, row]));
  const parentOf = (row) => byName.get(row.dataset.parent);
  const open = new Set();
  const buttons = new Map();

  function show() {
    for (const row of rows) {
      let above = parentOf(row);
      while (above && open.has(above)) above = parentOf(above);
      row.hidden = Boolean(above);
    }
    for (const [row, button] of buttons) button.setAttribute("aria-expanded", String(open.has(row)));
  }

  for (const row of new Set(rows.map(parentOf).filter(Boolean))) {
    const name = row.querySelector(".name");
    const button = make("button", "", { type: "button", class: "expand", "aria-label": `members of ${name.textContent}` });
    button.addEventListener("click", () => {
      if (!open.delete(row)) open.add(row);
      show();
    });
    buttons.set(row, button);
    name.before(button);
  }

  function reveal(row) {
    for (let above = parentOf(row); above; above = parentOf(above)) open.add(above);
  }

  // A link to a nested column opens what is around it.
  function follow() {
    const row = byName.get(decodeURIComponent(location.hash.slice(1)));
    if (!row) return;
    reveal(row);
    show();
    row.scrollIntoView();
  }

  const box = byId("find-column");
  finder(box, () => {
    const wanted = words(box);
    if (!wanted.length) return show();
    const found = rows.filter((row) => wanted.every((word) => row.textContent.toLowerCase().includes(word)));
    const shown = new Set(found);
    for (const row of found) for (let above = parentOf(row); above; above = parentOf(above)) shown.add(above), open.add(above);
    show();
    for (const row of rows) row.hidden = !shown.has(row);
  });
  show();
  follow();
  addEventListener("hashchange", follow);
}

function compareVersions(out) {
  const { versions, lines, changes, breaks } = data("comparisons");
  const [from, to] = [byId("compare-from"), byId("compare-to")];

  function tell(a, b) {
    const pair = `${a}-${b}`;
    const list = make("ul", "");
    for (const change of changes[pair] ?? []) list.append(make("li", lines[change]));
    out.append(make("h3", `From version ${a} to version ${b}`));
    out.append(list.hasChildNodes() ? list : make("p", "Nothing differs."));
    for (const broken of breaks[pair] ?? []) out.append(make("p", lines[broken], { class: "breaks" }));
  }

  function compare() {
    const [a, b] = [Number(from.value), Number(to.value)].sort((x, y) => x - y);
    out.replaceChildren();
    if (a === b || changes[`${a}-${b}`]) return tell(a, b);
    out.append(make("p", `What each version from ${a} to ${b} changed; lakebed diff TABLE@${a} TABLE@${b} tells the sum.`));
    const between = versions.slice(versions.indexOf(a), versions.indexOf(b) + 1);
    between.slice(1).forEach((next, i) => tell(between[i], next));
  }

  for (const choice of [from, to]) choice.addEventListener("change", compare);
  compare();
}

for (const [id, start] of [["find", findTables], ["columns-table", nestColumns], ["compared", compareVersions]]) {
  const found = byId(id);
  if (found) start(found);
}
