// Enriches the page: search as you type, keys, progress. Everything also works without it.
"use strict";

const DELAY = 180; // milliseconds after a key before a search, so that a word costs one search
const form = document.getElementById("search");
const results = document.getElementById("results");

if (form && results && results.dataset.from) {
  const input = form.elements.namedItem("query");
  let timer = 0;
  let running = null; // the request whose answer would be shown; an older one is given up

  const address = () => {
    const pairs = [...new FormData(form)].filter(([, value]) => value !== "");
    return new URLSearchParams(pairs).toString();
  };

  const search = async () => {
    running?.abort();
    const query = address();
    history.replaceState(null, "", query ? `/?${query}` : "/"); // the address reproduces what is shown
    document.title = input.value ? `${input.value.slice(0, 80)} · gitmem` : "gitmem";
    const hint = document.getElementById("all-hint");
    if (hint) hint.textContent = form.querySelector("[name=repository]:checked") ? "" : "None chosen: all are searched.";
    const own = (running = new AbortController());
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(`${results.dataset.from}?${query}`, { signal: own.signal, redirect: "error" });
      if (answer.status === 401) { location.reload(); return; }
      const text = await answer.text();
      if (own !== running) return;
      results.innerHTML = answer.ok ? text : "";
      if (!answer.ok) throw new Error(String(answer.status));
      document.getElementById("welcome")?.remove();
    } catch (error) {
      if (error.name === "AbortError") return;
      const line = document.createElement("p");
      line.className = "summary bad";
      line.setAttribute("role", "alert");
      line.textContent = "The server does not answer. Start it with `gitmem open`.";
      results.replaceChildren(line);
    }
    if (own === running) results.removeAttribute("aria-busy");
  };

  const later = () => { clearTimeout(timer); timer = setTimeout(search, DELAY); };
  input.addEventListener("input", later);
  form.addEventListener("change", (event) => { if (event.target !== input) later(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); search(); });
}

// Keys: `/` goes to the search, the arrows and j, k move through the results.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const here = document.activeElement;
  const query = document.querySelector("input[type=search]");
  const writes = here && (here.matches("textarea, select") || (here.matches("input") && here !== query));
  if (event.key === "/" && here !== query && !writes && query) {
    event.preventDefault();
    query.focus();
    query.select();
    return;
  }
  const types = here === query;
  const step = event.key === "ArrowDown" || (event.key === "j" && !types) ? 1
    : event.key === "ArrowUp" || (event.key === "k" && !types) ? -1 : 0;
  if (!step || writes) return;
  const places = [...document.querySelectorAll("#results a.place")];
  const at = places.indexOf(here);
  if (!places.length || (at < 0 && !types && event.key.startsWith("Arrow"))) return; // the arrows scroll as usual
  event.preventDefault();
  if (at + step < 0) { query?.focus(); return; }
  const next = places[Math.min(at + step, places.length - 1)];
  next.focus();
  next.closest(".hit").scrollIntoView({ block: "nearest" });
});

// A file opens at the lines that are wanted.
document.querySelector("tr.wanted")?.scrollIntoView({ block: "center" });

// The progress of an index run, from the server's events.
const progress = document.getElementById("progress");
if (progress && progress.dataset.running === "yes") {
  const text = document.getElementById("progress-text");
  const bar = document.getElementById("progress-bar");
  const state = document.getElementById("state");
  const events = new EventSource(progress.dataset.events);
  const number = (value) => value.toLocaleString("en");
  events.addEventListener("progress", (event) => {
    const job = JSON.parse(event.data);
    if (!job) return;
    bar.value = job.percent;
    state.textContent = "Updating";
    state.className = "state busy";
    text.textContent = `Indexing: ${number(job.files)} of ${number(job.files_total)} files, ${number(job.chunks)} chunks, ${Math.floor(job.percent)} %${job.waiting && `; ${job.waiting}`}${job.path && `; ${job.path}`}`;
  });
  events.addEventListener("end", () => { events.close(); location.reload(); });
  events.onerror = () => { text.textContent = "The server does not answer. The index keeps the completed work."; };
}
