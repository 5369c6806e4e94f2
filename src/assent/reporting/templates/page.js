(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);

  // Charts: drawn in light colours, which the style sheet changes where it is dark.
  for (const [name, spec] of Object.entries(data.charts)) {
    const place = document.getElementById(`figure-${name}`);
    const options = {
      renderer: "svg", actions: false, ast: true, defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    };
    // Charts that share a legend, which stands above them, have none of their own in the page.
    const shared = place.closest(".shared") !== null;
    const without = (drawn) => { delete drawn.legends; return drawn; };
    const seen = shared ? { ...options, patch: without } : options;
    vegaEmbed(place, spec, seen).then(({ view }) => {
      const link = place.parentElement.querySelector(".save");
      link.hidden = false;
      link.addEventListener("click", async (event) => {
        if (link.href.startsWith("blob:")) return;
        event.preventDefault();
        const width = place.clientWidth;
        const whole = shared
          ? (await vegaEmbed(document.createElement("div"), { ...spec, width }, options)).view
          : view;
        const svg = await whole.toSVG();
        link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        link.click();
        URL.revokeObjectURL(link.href);
        link.href = `#figure-${name}`;
      });
    });
  }

  // Tables: numbers by their data-value, the largest first; words by the alphabet; blanks last.
  const key = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
  };
  const compare = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return other - one;
    if (typeof one === "number") return -1;
    if (typeof other === "number") return 1;
    return one.localeCompare(other);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      heading.querySelector("button")?.addEventListener("click", () => {
        const again = heading.ariaSort === "descending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.ariaSort = again ? "ascending" : "descending";
        const keyed = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
        const blank = (value) => typeof value === "string" && value === "–";
        keyed.sort(([one], [other]) => {
          if (blank(one) || blank(other)) return blank(one) - blank(other);
          return again ? compare(other, one) : compare(one, other);
        });
        table.tBodies[0].append(...keyed.map(([, row]) => row));
      });
    });
  }

  for (const input of document.querySelectorAll("input[data-filters]")) {
    const table = document.getElementById(input.dataset.filters);
    input.addEventListener("input", () => {
      const part = input.value.toLowerCase();
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(part);
      }
    });
  }

  // New facts: filtered, sorted, and shown a page at a time, so that many thousands stay quick.
  const PAGE = 25;
  const [HEAD, RELATION, TAIL, PROBABILITY, DECISION, EVIDENCE] = [0, 1, 2, 3, 4, 5];
  // What was decided, by its number in a row: the words, and how they look.
  const DECISIONS = [["accepted", "right"], ["to review", "warning"], ["entailed", "right"]];
  const ENTAILED = 2;

  const element = (tag, className, ...content) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...content); // strings become text, whatever they say
    return made;
  };
  const digits = (value) => {
    if (value > 0 && value < 0.0005) return "< .001";
    if (value >= 0.9995) return "> .999";
    return value.toFixed(3).replace(/^0/, "");
  };
  const many = (count) => count.toLocaleString("en");
  const isAddress = (id) => /^https?:\/\//.test(id);
  const linked = (id, text) => {
    const link = element("a", "", text);
    link.href = id;
    link.rel = "noopener noreferrer";
    return link;
  };

  // A name, a link where its id is an address; and the id itself, if it is another.
  const named = ([name, id = name]) => (isAddress(id) ? linked(id, name) : name);
  const identified = ([name, id = name]) => {
    if (id === name) return null;
    return element("code", "", isAddress(id) ? linked(id, id) : id);
  };

  const factItem = (row, { entities, relations, around }) => {
    const parts = [entities[row[HEAD]], relations[row[RELATION]], entities[row[TAIL]]];
    const [head, [relation, id = relation], tail] = parts;
    const [between, after] = around[row[RELATION]];
    const words = element("p", "fact", element("b", "", named(head)), " ");
    words.append(element("span", "", named([between, id])), " ", element("b", "", named(tail)));
    if (after) words.append(" ", element("span", "", after));
    const ids = parts.map(identified).filter(Boolean);
    const what = element("div", "what", words);
    if (ids.length) what.append(element("p", "ids", ...ids.flatMap((id) => [id, " "])));
    const sure = element("div", "sure");
    if (row[DECISION] !== ENTAILED) { // nobody guessed it: it has no probability to speak of
      const bar = element("span", "bar");
      bar.style.setProperty("--share", row[PROBABILITY]);
      sure.append(element("span", "digits", digits(row[PROBABILITY])), bar);
    }
    const [decision, look] = DECISIONS[row[DECISION]];
    sure.append(element("span", look, decision));
    const why = element("div", "why");
    const [first, ...others] = row[EVIDENCE];
    why.append(element("p", first ? "" : "none", first ?? "By similarity alone: no evidence in words."));
    if (others.length) {
      const more = element("details", "", element("summary", "", `${others.length} more`));
      more.append(...others.map((other) => element("p", "", other)));
      why.append(more);
    }
    return element("li", "", what, why, sure);
  };

  const textOf = (row, { entities, relations, around }) =>
    [entities[row[HEAD]], relations[row[RELATION]], around[row[RELATION]], entities[row[TAIL]]]
      .flat()
      .join(" ")
      .toLowerCase();

  const alphabet = new Intl.Collator("en");
  const ORDERS = {
    surest: (one, other) => other[PROBABILITY] - one[PROBABILITY],
    doubtful: (one, other) => one[PROBABILITY] - other[PROBABILITY],
    relation: (one, other, relations) =>
      alphabet.compare(relations[one[RELATION]][0], relations[other[RELATION]][0]) ||
      one[RELATION] - other[RELATION] ||
      other[PROBABILITY] - one[PROBABILITY],
  };

  const option = (value, text) => {
    const made = element("option", "", text);
    made.value = value;
    return made;
  };
  const counted = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  };

  for (const section of document.querySelectorAll("[data-facts]")) {
    const facts = data.facts[section.dataset.facts];
    const form = section.querySelector("form.controls");
    if (!form) continue;
    const { search, relation, decision, order } = form.elements;
    const list = section.querySelector("ol.facts");
    const status = section.querySelector(".status");
    const pager = section.querySelector(".pager");
    const [previous, next] = pager.querySelectorAll("button");
    let texts = null; // of all rows, in lower case: made when something is first looked for
    let found = [];
    let first = 0;

    const perDecision = counted(facts.rows.map((row) => row[DECISION]));
    const choices = DECISIONS.map(([text], value) => [value, text]).filter(([value]) => perDecision.has(value));
    decision.append(...choices.map(([value, text]) => option(value, `${text} (${many(perDecision.get(value))})`)));
    if (choices.length > 1) decision.append(option("", `all (${many(facts.rows.length)})`));
    decision.parentElement.hidden = choices.length < 2;

    const fillRelations = () => {
      const chosen = relation.value;
      const rows = facts.rows.filter((row) => !decision.value || row[DECISION] === Number(decision.value));
      const perRelation = [...counted(rows.map((row) => row[RELATION]))].sort((one, other) =>
        alphabet.compare(facts.relations[one[0]][0], facts.relations[other[0]][0]));
      relation.replaceChildren(
        option("", `all (${many(perRelation.length)})`),
        ...perRelation.map(([place, count]) => option(place, `${facts.relations[place][0]} (${many(count)})`)),
      );
      relation.value = perRelation.some(([place]) => String(place) === chosen) ? chosen : "";
    };

    const show = () => {
      const page = found.slice(first, first + PAGE);
      list.start = first + 1;
      list.replaceChildren(...page.map((row) => factItem(row, facts)));
      const shown = found.length > PAGE ? `${many(first + 1)} to ${many(first + page.length)} of ` : "";
      status.textContent = found.length ? `${shown}${many(found.length)} ${found.length === 1 ? "fact" : "facts"}` : "No fact fits.";
      pager.hidden = found.length <= PAGE;
      previous.disabled = first === 0;
      next.disabled = first + PAGE >= found.length;
    };
    const look = () => {
      const parts = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (parts.length) texts ??= facts.rows.map((row) => textOf(row, facts));
      found = facts.rows.filter((row, place) =>
        (!relation.value || row[RELATION] === Number(relation.value)) &&
        (!decision.value || row[DECISION] === Number(decision.value)) &&
        parts.every((part) => texts[place].includes(part)));
      found.sort((one, other) => ORDERS[order.value](one, other, facts.relations));
      first = 0;
      show();
    };
    const turn = (by) => () => {
      first += by;
      show();
      form.scrollIntoView({ block: "start" });
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    search.addEventListener("input", look);
    relation.addEventListener("change", look);
    order.addEventListener("change", look);
    decision.addEventListener("change", () => {
      fillRelations();
      look();
    });
    previous.addEventListener("click", turn(-PAGE));
    next.addEventListener("click", turn(PAGE));
    fillRelations();
    look();
    form.hidden = false;
  }
})();
