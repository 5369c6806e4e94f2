// The page of a review: shows one fact at a time and sends what a person decides about it.
// Text from the graph only ever becomes text (textContent), never markup.
"use strict";

const AHEAD = 3; // facts that are loaded before they are shown
const ACTIONS = JSON.parse(document.body.dataset.actions); // {name, label, past, kind, key}
const VERDICTS = ACTIONS.filter((action) => action.kind === "verdict");
const KEPT_KEYS = "assent-review-keys"; // in this browser's local storage
const NAMES = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

const at = (id) => document.getElementById(id);
const filter = at("filter");
const state = {
  queue: [], // facts to show; the first one is on the screen
  saving: null, // the decision that is on its way to the disk
  held: [], // actions asked for in the meantime, done once it is there
  note: "",
  loading: 0, // counts loads: the answer to an older filter is not used
  progressAt: 0,
  capturing: null, // the action that waits for its new key
};

// ---- asking the server

class Refusal extends Error {}

async function ask(path, body) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch {
    throw new Error("The server does not answer. Is assent review still running?");
  }
  if (answer.ok) return answer.json();
  const text = (await answer.text()).trim();
  if (answer.status === 403) {
    throw new Error("The server does not know you any more: open the address that it printed.");
  }
  let reason = text;
  try {
    reason = JSON.parse(text).error;
  } catch {
    // A plain sentence.
  }
  throw new Refusal(reason || `The server answered ${answer.status}.`);
}

function chosen() {
  const words = new URLSearchParams();
  for (const [name, value] of new FormData(filter)) {
    if (value !== "") words.set(name, value);
  }
  return words;
}

// ---- drawing

function value(data, path) {
  return path === "." ? data : path.split(".").reduce((found, key) => found?.[key], data);
}

function is(found) {
  return Array.isArray(found) ? found.length > 0 : Boolean(found);
}

function fill(root, data) {
  for (const each of [...root.querySelectorAll("[data-each]")]) {
    if (!root.contains(each)) continue;
    const pattern = each.firstElementChild;
    const items = value(data, each.dataset.each) ?? [];
    each.removeAttribute("data-each");
    each.replaceChildren(
      ...items.map((item) => {
        const holder = document.createDocumentFragment();
        holder.append(pattern.cloneNode(true));
        fill(holder, item);
        return holder;
      }),
    );
    each.hidden = items.length === 0;
  }
  for (const part of root.querySelectorAll("[data-if]")) {
    if (!is(value(data, part.dataset.if))) part.remove();
    else part.removeAttribute("data-if");
  }
  for (const part of root.querySelectorAll("[data-unless]")) {
    if (is(value(data, part.dataset.unless))) part.remove();
    else part.removeAttribute("data-unless");
  }
  for (const part of root.querySelectorAll("[data-text]")) {
    part.textContent = value(data, part.dataset.text) ?? "";
    part.removeAttribute("data-text");
  }
  for (const part of root.querySelectorAll("[data-link]")) {
    const iri = value(data, part.dataset.link)?.iri;
    part.removeAttribute("data-link");
    if (!iri) continue;
    part.href = iri;
    part.target = "_blank";
    part.rel = "noopener noreferrer";
  }
  for (const part of root.querySelectorAll("[data-open]")) {
    part.dataset.proposal = value(data, part.dataset.open);
  }
  for (const part of root.querySelectorAll("[data-share]")) {
    part.style.inlineSize = `${100 * value(data, part.dataset.share)}%`;
    part.removeAttribute("data-share");
  }
  return root;
}

function drawn(template, data) {
  return fill(at(template).content.cloneNode(true), data);
}

function showFact() {
  const card = state.queue[0];
  const place = at("fact");
  place.replaceChildren(card ? drawn("fact-template", card) : drawn("nothing-template", {}));
  place.dataset.proposal = card ? card.proposal : "";
  place.classList.remove("fresh");
  void place.offsetWidth; // so that the movement starts again
  place.classList.add("fresh");
  for (const button of document.querySelectorAll("#verdicts .verdict, #verdicts .note")) {
    button.disabled = !card;
  }
  window.scrollTo({ top: 0, behavior: "instant" });
}

function say(words) {
  at("said").textContent = words;
}

function showTrouble(error) {
  const place = at("trouble");
  place.textContent = error ? error.message : "";
  place.hidden = !error;
}

function showRecent(recent) {
  at("recent").replaceChildren(...recent.map((label) => {
    const row = drawn("recent-template", label);
    const select = row.querySelector("select");
    for (const { name, past } of VERDICTS) {
      const option = new Option(past, name, name === label.verdict, name === label.verdict);
      select.add(option);
    }
    select.dataset.label = label.id;
    select.className = label.verdict;
    return row;
  }));
  at("no-recent").hidden = recent.length > 0;
}

function showProgress(progress) {
  at("bar").max = Math.max(progress.total, 1);
  at("bar").value = progress.done;
  at("counts").textContent = progress.counts;
  at("pace").textContent = progress.pace;
  at("promise").replaceChildren(drawn("promise-template", progress));
  at("people").replaceChildren(drawn("people-template", progress));
}

async function refreshProgress(now = false) {
  // The bounds take a moment to compute: not after every key.
  clearTimeout(state.progressTimer);
  const wait = now ? 0 : Math.max(0, state.progressAt + 1500 - Date.now());
  state.progressTimer = setTimeout(async () => {
    state.progressAt = Date.now();
    try {
      showProgress(await ask("progress"));
    } catch {
      // The next decision says what is wrong.
    }
  }, wait);
}

// ---- loading facts

async function load({ fresh = false } = {}) {
  const mine = fresh ? ++state.loading : state.loading;
  const words = chosen();
  const there = fresh ? [] : state.queue;
  words.set("count", AHEAD - Math.min(there.length, AHEAD));
  const excluded = there.map((card) => card.proposal);
  if (state.saving) excluded.push(state.saving.proposal);
  if (excluded.length) words.set("excluding", excluded.join(","));
  try {
    const { cards } = await ask(`next?${words}`);
    if (mine !== state.loading) return;
    const wasEmpty = fresh || state.queue.length === 0;
    const known = new Set(fresh ? [] : state.queue.map((card) => card.proposal));
    const added = cards.filter((card) => !known.has(card.proposal));
    state.queue = fresh ? added : [...state.queue, ...added];
    if (wasEmpty) showFact();
    if (state.troubled) {
      state.troubled = false;
      showTrouble(null);
    }
  } catch (error) {
    if (mine !== state.loading) return;
    trouble(error);
  }
}

function trouble(error) {
  showTrouble(error);
  clearTimeout(state.again);
  if (!(error instanceof Refusal)) {
    state.troubled = true;
    state.again = setTimeout(() => load({ fresh: state.queue.length === 0 }), 2000);
  }
}

// ---- deciding

async function decide(verdict) {
  const card = state.queue[0];
  if (!card) return;
  const note = state.note;
  setNote("");
  state.saving = card;
  state.queue.shift();
  const showed = state.queue.length > 0;
  if (showed) showFact(); // the next one is on the screen while this one is written
  at("fact").classList.toggle("waiting", !showed);
  say("Saving …");
  try {
    const answer = await ask("decide", {
      proposal: card.proposal, verdict, note, order: card.order,
    });
    showTrouble(null);
    say(`${VERDICTS.find((one) => one.name === verdict).past}: ${card.words}`);
    showRecent(answer.recent);
    refreshProgress();
    state.saving = null;
    if (showed) load();
    else await load();
  } catch (error) {
    // Not on the disk: the fact comes back, with its note, and what was asked for since is dropped.
    state.saving = null;
    state.held = [];
    state.queue.unshift(card);
    setNote(note);
    showFact();
    say("");
    trouble(new (error instanceof Refusal ? Refusal : Error)(`Not saved. ${error.message}`));
  } finally {
    at("fact").classList.remove("waiting");
  }
}

async function undo() {
  const answer = await ask("undo", { order: filter.elements.order.value });
  if (!answer.card) return say("Nothing to undo.");
  state.queue = [answer.card, ...state.queue.filter((card) => card.proposal !== answer.card.proposal)];
  showFact();
  showRecent(answer.recent);
  refreshProgress(true);
  say(`Undone: ${answer.card.words}`);
}

function setNote(words) {
  state.note = words;
  at("note-text").value = words;
  at("note").hidden = words === "";
}

function writeNote() {
  at("note").hidden = false;
  at("note-text").focus();
}

async function act(name) {
  if (state.saving || state.acting) {
    if (name !== "note" && state.held.length < 20) state.held.push(name);
    return;
  }
  state.acting = true;
  try {
    if (name === "undo") await undo();
    else if (name === "note") writeNote();
    else await decide(name);
  } catch (error) {
    trouble(error);
  } finally {
    state.acting = false;
  }
  if (state.held.length) act(state.held.shift());
}

// ---- keys

function keys() {
  const first = Object.fromEntries(ACTIONS.map((action) => [action.name, action.key]));
  try {
    return { ...first, ...JSON.parse(localStorage.getItem(KEPT_KEYS) ?? "{}") };
  } catch {
    return first;
  }
}

function keep(changed) {
  try {
    if (changed) localStorage.setItem(KEPT_KEYS, JSON.stringify(changed));
    else localStorage.removeItem(KEPT_KEYS);
  } catch {
    say("This browser keeps nothing: the keys are as they were.");
  }
  showKeys();
}

function showKeys() {
  const now = keys();
  const shown = (key) => NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
  for (const button of document.querySelectorAll("[data-action]")) {
    button.querySelector("kbd").textContent = shown(now[button.dataset.action]);
  }
  at("keys").replaceChildren(...ACTIONS.flatMap(({ name, label }) => {
    const term = document.createElement("dt");
    term.textContent = label;
    const detail = document.createElement("dd");
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.key = name;
    button.textContent = state.capturing === name ? "press a key" : shown(now[name]);
    button.setAttribute("aria-label", `Key for ${label}: ${shown(now[name])}. Change`);
    detail.append(button);
    return [term, detail];
  }));
}

function capture(event) {
  event.preventDefault();
  const name = state.capturing;
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  state.capturing = null;
  if (["Escape", "Tab"].includes(event.key)) return showKeys();
  const now = keys();
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const other = Object.keys(now).find((one) => now[one] === key);
  if (other) now[other] = now[name]; // two actions never share a key
  keep({ ...now, [name]: key });
  document.querySelector(`[data-key="${name}"]`)?.focus();
}

document.addEventListener("keydown", (event) => {
  if (state.capturing) return capture(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (at("batch").open || event.target.closest("input, select, textarea")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.target.closest("button, summary, a") && ["Enter", " "].includes(key)) return;
  const found = Object.entries(keys()).find(([, one]) => one === key);
  if (!found) return;
  event.preventDefault();
  act(found[0]);
});

at("keys").addEventListener("click", (event) => {
  const button = event.target.closest("[data-key]");
  if (!button) return;
  state.capturing = button.dataset.key;
  showKeys();
});
at("reset-keys").addEventListener("click", () => keep(null));

// ---- what else can be clicked

at("verdicts").addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (button) act(button.dataset.action);
});

at("note").addEventListener("submit", (event) => {
  event.preventDefault();
  state.note = at("note-text").value.trim();
  at("note").hidden = state.note === "";
  at("note-text").blur();
  at("fact").focus({ preventScroll: true });
});
at("note-text").addEventListener("input", () => { state.note = at("note-text").value.trim(); });
at("note-text").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  setNote("");
  at("fact").focus({ preventScroll: true });
});

at("recent").addEventListener("change", async (event) => {
  const select = event.target.closest("select");
  if (!select) return;
  try {
    const answer = await ask("change", { label: Number(select.dataset.label), verdict: select.value });
    showRecent(answer.recent);
    refreshProgress(true);
    say(`Changed: ${select.selectedOptions[0].text}`);
  } catch (error) {
    trouble(new Refusal(`Not changed. ${error.message}`));
    showRecent((await ask("recent")).recent);
  }
});

at("people").addEventListener("click", async (event) => {
  const button = event.target.closest("[data-open]");
  if (!button) return;
  try {
    const { card } = await ask(`card?proposal=${button.dataset.proposal}`);
    state.queue = [card, ...state.queue.filter((one) => one.proposal !== card.proposal)];
    showFact();
  } catch (error) {
    trouble(error);
  }
});

// A list that was used with the mouse gives the keys back to the facts.
let byPointer = false;
document.addEventListener("pointerdown", () => { byPointer = true; }, true);
document.addEventListener("keydown", () => { byPointer = false; }, true);

filter.addEventListener("submit", (event) => event.preventDefault());
filter.addEventListener("change", (event) => {
  if (!filter.reportValidity()) return;
  history.replaceState(null, "", `?${chosen()}`);
  describeOrder();
  load({ fresh: true });
  if (byPointer && event.target.matches("select")) event.target.blur();
});

function describeOrder() {
  at("order-note").textContent = filter.elements.order.selectedOptions[0]?.dataset.note ?? "";
}

// ---- batches

let previewed = null;
at("open-batch").addEventListener("click", async () => {
  try {
    previewed = await ask(`preview?${chosen()}`);
  } catch (error) {
    return trouble(error);
  }
  at("batch-words").textContent = previewed.words;
  at("batch-examples").replaceChildren(...previewed.examples.map((words) => {
    const item = document.createElement("li");
    const isolated = document.createElement("bdi");
    isolated.textContent = words;
    item.append(isolated);
    return item;
  }));
  at("batch-go").disabled = previewed.count === 0;
  describeBatch();
  at("batch").showModal();
});

function describeBatch() {
  const verdict = at("batch-verdict").selectedOptions[0].text;
  at("batch-go").textContent = `${verdict} ${previewed.count.toLocaleString("en")} facts`;
}
at("batch-verdict").addEventListener("change", describeBatch);
at("batch-cancel").addEventListener("click", () => at("batch").close());
at("batch-form").addEventListener("submit", (event) => event.preventDefault());
at("batch-go").addEventListener("click", async () => {
  at("batch-go").disabled = true;
  try {
    const body = { verdict: at("batch-verdict").value, expected: previewed.count };
    const answer = await ask("batch", { ...body, ...Object.fromEntries(chosen()) });
    at("batch").close();
    say(answer.words);
    showRecent(answer.recent);
    refreshProgress(true);
    load({ fresh: true });
  } catch (error) {
    at("batch").close();
    trouble(error);
  }
});

// ---- the start

window.addEventListener("beforeunload", (event) => {
  if (state.saving) event.preventDefault();
});

async function start() {
  // The token is in a cookie from now on; it need not stand in the history of this browser.
  const given = new URLSearchParams(location.search);
  given.delete("token");
  history.replaceState(null, "", given.size ? `?${given}` : location.pathname);
  if (window.matchMedia("(max-width: 60rem)").matches) {
    for (const panel of document.querySelectorAll("details.panel")) panel.open = false;
  }
  showKeys();
  try {
    const { relations } = await ask("relations");
    for (const { name, label, count } of relations) {
      filter.elements.relation.add(new Option(`${label} (${count.toLocaleString("en")})`, name));
    }
  } catch (error) {
    return trouble(error);
  }
  for (const [name, words] of given) {
    if (filter.elements[name]) filter.elements[name].value = words;
  }
  describeOrder();
  await load({ fresh: true });
  refreshProgress(true);
  try {
    showRecent((await ask("recent")).recent);
  } catch (error) {
    trouble(error);
  }
}

start();
