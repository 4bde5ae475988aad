"use strict";
// Adds what needs a script to a page that is whole without it: examples that can be searched, chosen by kind,
// paged and opened at once, and tables that can be sorted. It makes elements and sets texts; it never parses
// a text as HTML, keeps nothing, and asks for nothing.
(() => {
  const PAGE = 20, LONG = 3;
  const main = document.getElementById("content");
  const words = main.dataset;

  const make = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const button = (text, act) => {
    const made = make("button", text, { type: "button" });
    made.addEventListener("click", act);
    return made;
  };
  const labelled = (text, control) => {
    const label = make("label", text + " ");
    label.append(control);
    return label;
  };
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  const tools = (section) => {
    const groups = [...section.querySelectorAll(".group")];
    const all = groups.flatMap((group) => [...group.querySelectorAll("details.example")]);
    if (all.length < 2) return;
    const texts = new Map();
    const text = (one) => {
      if (!texts.has(one)) texts.set(one, one.textContent.toLowerCase());
      return texts.get(one);
    };
    const find = make("input", "", { type: "search" });
    const kind = make("select", "");
    kind.append(make("option", words.all, { value: "" }));
    groups.forEach((group, place) => {
      kind.append(make("option", group.querySelector("h5").textContent, { value: String(place) }));
    });
    const told = make("span", "", { role: "status" });
    let page = 0;
    const show = () => {
      const wanted = find.value.trim().toLowerCase();
      const chosen = kind.value === "" ? groups : [groups[Number(kind.value)]];
      const matching = chosen
        .flatMap((group) => [...group.querySelectorAll("details.example")])
        .filter((one) => !wanted || text(one).includes(wanted));
      const pages = Math.max(1, Math.ceil(matching.length / PAGE));
      page = Math.min(Math.max(page, 0), pages - 1);
      const seen = new Set(matching.slice(page * PAGE, (page + 1) * PAGE));
      for (const one of all) one.hidden = !seen.has(one);
      for (const group of groups) group.hidden = ![...group.querySelectorAll("details.example")].some((one) => seen.has(one));
      told.textContent = filled(words.shown, { shown: seen.size, found: matching.length, page: page + 1, pages });
      back.disabled = page === 0;
      next.disabled = page === pages - 1;
    };
    const opened = (open) => () => all.forEach((one) => { if (!one.hidden) one.open = open; });
    const back = button(words.back, () => { page -= 1; show(); });
    const next = button(words.next, () => { page += 1; show(); });
    const first = () => { page = 0; show(); };
    find.addEventListener("input", first);
    kind.addEventListener("change", first);
    const bar = make("div", "", { class: "tools", role: "group", "aria-label": words.tools });
    bar.append(
      labelled(words.find, find), labelled(words.kind, kind), back, next,
      button(words.open, opened(true)), button(words.close, opened(false)), told,
    );
    groups[0].before(bar);
    show();
  };

  const value = (row, place) => {
    const said = row.cells[place].textContent.trim();
    const number = Number.parseFloat(said.replace(/^\[/, ""));
    return { said, number };
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length <= LONG) return;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const name = head.textContent;
      head.textContent = "";
      head.append(button(name, () => {
        const turn = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] ?? "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        if (turn !== "none") head.setAttribute("aria-sort", turn);
        const sign = turn === "descending" ? -1 : 1;
        const ordered = turn === "none" ? rows : [...rows].sort((one, other) => {
          const a = value(one, place), b = value(other, place);
          if (Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) ? 1 : -1;
          return sign * (Number.isNaN(a.number) ? a.said.localeCompare(b.said) : a.number - b.number);
        });
        body.append(...ordered);
      }));
    });
  };

  main.querySelectorAll("section").forEach((section) => {
    if (section.querySelector(":scope > .group")) tools(section);
  });
  main.querySelectorAll("table.sortable").forEach(sortable);
})();
