(() => {
  "use strict";
  const specs = JSON.parse(document.getElementById("specs").textContent);

  // Charts: drawn in light colours, which the style sheet changes where it is dark.
  for (const [name, spec] of Object.entries(specs)) {
    const place = document.getElementById(`figure-${name}`);
    const options = {
      renderer: "svg", actions: false, ast: true, defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    };
    vegaEmbed(place, spec, options).then(({ view }) => {
      const link = place.parentElement.querySelector(".save");
      link.hidden = false;
      link.addEventListener("click", async (event) => {
        if (link.href.startsWith("blob:")) return;
        event.preventDefault();
        const svg = await view.toSVG();
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
})();
