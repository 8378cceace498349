// The live part of a report: highlighting of evidence, the timeline, the search, keys.
//
// Everything that can be read is in the page without this file. Here are no libraries
// and no requests. The data (src/report/timeline.hpp says what it is) stands in the
// element #data; a transaction is known by its place `i` in the columns of it, and by
// its id in the pictures (data-txn).
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) =>
    ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const say = (text) => { $("live").textContent = text; };
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
  const data = JSON.parse($("data").textContent);

  // ---- light and dark

  const stored = {
    get theme() { try { return localStorage.getItem("cupel-theme"); } catch { return null; } },
    set theme(value) { try { localStorage.setItem("cupel-theme", value); } catch { /* not allowed for this file */ } },
  };
  const root = document.documentElement;
  if (stored.theme) root.dataset.theme = stored.theme;
  const toggleTheme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = stored.theme = dark ? "light" : "dark";
    say(dark ? "light" : "dark");
  };
  $("theme").addEventListener("click", toggleTheme);

  // ---- transactions

  const statusWord = { c: "committed", a: "aborted", i: "outcome unknown" };
  const placeOf = new Map();  // id -> i
  const byLabel = new Map();  // label -> [i, …]
  const sessionOf = [];       // i -> place in data.sessions
  if (data) {
    let s = 0;
    data.ids.forEach((id, i) => {
      placeOf.set(id, i);
      const label = data.labels[i];
      if (!byLabel.has(label)) byLabel.set(label, []);
      byLabel.get(label).push(i);
      while (id >= data.sessions[s][2] + data.sessions[s][3]) s += 1;
      sessionOf.push(s);
    });
  }
  const ordinal = (n) => n + (n % 100 >= 11 && n % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][n % 10] || "th");
  const name = (i) => "T" + data.labels[i];
  const place = (i) => {
    const session = data.sessions[sessionOf[i]];
    return `session ${session[1]}, its ${ordinal(data.ids[i] - session[2] + 1)} of ${session[3]}${onNode(i)}`;
  };
  const roleWord = { p: "primary", r: "replica" };
  const nodeOf = (i) => (data.nodes ? data.nodes.of[i] : -1);
  const onNode = (i) => {
    const role = data.nodes ? roleWord[data.nodes.role[i]] : undefined;
    return nodeOf(i) < 0 ? "" : `, on ${data.nodes.names[nodeOf(i)]}${role ? `, ${role}` : ""}`;
  };
  const startOf = (i) => data.start[i];
  const endOf = (i) => (data.length[i] < 0 ? data.start[i] : data.start[i] + data.length[i]);
  const duration = (ns) => {
    if (ns < 1e3) return `${ns} ns`;
    if (ns < 1e6) return `${+(ns / 1e3).toPrecision(4)} us`;
    if (ns < 1e9) return `${+(ns / 1e6).toPrecision(4)} ms`;
    return `${+(ns / 1e9).toPrecision(5)} s`;
  };
  const keyName = (k) => (/^-?\d+$/.test(data.keys[k]) ? "key " + data.keys[k] : data.keys[k]);
  // A moment of the timeline, counted from the first one.
  const moment = (t) => (data.places ? `place ${data.from + t}` : duration(t));

  // [kind, key, value] of each operation.
  const operations = (i) => {
    const flat = data.ops[i], list = [];
    for (let at = 0; at < flat.length; at += 3) list.push([flat[at], flat[at + 1], flat[at + 2]]);
    return list;
  };
  const opText = ([kind, key, value]) => {
    const k = kind === 8 || key < 0 ? "" : keyName(key);
    switch (kind) {
      case 0: case 3: return `read ${k} = ${value}`;
      case 1: return `wrote ${k} = ${value}`;
      case 2: return `appended ${value} to ${k}`;
      case 4: return `read the range ${value}`;
      case 5: return `inserted ${k} = ${value}`;
      case 6: return value === "null" || value === "?" ? `deleted ${k}` : `deleted ${k} (${value})`;
      case 7: return `compare-and-set ${k}: ${value}`;
      default: return `… ${key} more`;
    }
  };
  const brief = ([kind, key, value]) => {
    const k = kind === 8 || key < 0 ? "" : data.keys[key];
    switch (kind) {
      case 0: case 3: return `r ${k}=${value}`;
      case 1: return `w ${k}=${value}`;
      case 2: return `a ${k}+${value}`;
      case 4: return `r ${value}`;
      case 5: return `i ${k}=${value}`;
      case 6: return `d ${k}`;
      case 7: return `cas ${k} ${value}`;
      default: return `…`;
    }
  };
  const spoken = (i) => `${name(i)}, ${place(i)}, ${statusWord[data.status[i]]}: ${operations(i).map(opText).join(", ")}`;

  // ---- violations: pictures, steps, evidence

  const articles = all(".violation");
  let current = articles.length > 0 ? 0 : -1;
  const showWhich = () => {
    if (current >= 0) $("which").textContent = `violation ${current + 1} of ${articles.length}`;
  };
  const goTo = (index, focus = true) => {
    if (articles.length === 0) return;
    current = (index + articles.length) % articles.length;
    showWhich();
    if (focus) {
      articles[current].focus({ preventScroll: true });
      articles[current].scrollIntoView({ block: "start" });
    }
    if (timeline) timeline.fitViolation();
  };

  articles.forEach((article) => {
    // A page that would be too large has no picture here, and nothing to light up.
    const svg = article.querySelector("svg") || document.createElement("div");
    const arrows = new Map(all(".arrow", svg).map((g) => [g.dataset.arrow, g]));
    const boxes = new Map(all(".box", svg).map((g) => [g.dataset.txn, g]));
    const firstStep = new Map();
    for (const step of all("[data-step]", article)) {
      if (!firstStep.has(step.dataset.step)) firstStep.set(step.dataset.step, step);
    }
    let pinned = null;
    // The arrow of a step, and thinner the arrows that it follows from.
    const light = (step) => {
      svg.classList.toggle("dimmed", step !== null);
      all(".lit, .because", article).forEach((e) => e.classList.remove("lit", "because"));
      if (step === null) return;
      step.classList.add("lit");
      const evidence = all(":scope > details > ol > li", step);
      for (const one of [step, ...evidence]) {
        const arrow = arrows.get(one.dataset.step);
        if (!arrow) continue;
        arrow.classList.add("lit");
        if (one !== step) arrow.classList.add("because");
        for (const end of [arrow.dataset.from, arrow.dataset.to]) boxes.get(end)?.classList.add("lit");
      }
    };
    for (const step of all("[data-step]", article)) {
      const head = step.querySelector(":scope > .fact, :scope > details > summary");
      head.addEventListener("mouseenter", () => light(step));
      head.addEventListener("mouseleave", () => light(pinned));
      head.addEventListener("focus", () => light(step));
      head.addEventListener("blur", () => light(pinned));
      const details = step.querySelector(":scope > details");
      if (details) {
        details.addEventListener("toggle", () => {
          pinned = details.open ? step : (pinned === step ? null : pinned);
          light(pinned);
        });
      }
    }
    for (const [index, arrow] of arrows) {
      arrow.addEventListener("click", () => {
        const step = firstStep.get(index);
        if (!step) return;
        for (let e = step.parentElement; e !== article; e = e.parentElement) {
          if (e.tagName === "DETAILS") e.open = true;
        }
        const details = step.querySelector(":scope > details");
        if (details) details.open = true;
        const head = step.querySelector(".fact, summary");
        head.focus();
        head.scrollIntoView({ block: "nearest" });
      });
    }
    for (const [id, box] of boxes) {
      const i = placeOf.get(Number(id));
      if (i === undefined) continue;
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "button");
      box.addEventListener("click", () => choose(i, { reveal: true }));
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(i, { reveal: true }); }
      });
    }
    // The picture is an image to a reader of the page; its boxes are buttons all the same.
    svg.setAttribute("role", "group");
    if (data) linkNames(article.querySelector(".narrative pre"));
  });

  if (data) all(".txns").forEach((cell) => linkNames(cell));

  // A picture, or a table, that its frame cuts says so.
  const hints = all(".scroll, .finding .wide").map((frame) => {
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = `The ${frame.matches(".scroll") ? "picture" : "table"} is wider than its frame: scroll it sideways.`;
    frame.before(hint);
    return [frame, hint];
  });
  const showHints = () => {
    for (const [frame, hint] of hints) {
      const cut = frame.scrollWidth > frame.clientWidth;
      hint.hidden = !cut;
      frame.classList.toggle("cut", cut);
    }
  };
  addEventListener("resize", showHints);
  showHints();

  // T12 in a text, where there is one T12 only.
  function linkNames(element) {
    const parts = element.textContent.split(/\b(T\d+)\b/);
    element.textContent = "";
    for (const part of parts) {
      const found = /^T\d+$/.test(part) ? byLabel.get(Number(part.slice(1))) : undefined;
      if (found && found.length === 1) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "txn-link";
        button.textContent = part;
        button.addEventListener("click", () => choose(found[0], { reveal: true }));
        element.append(button);
      } else {
        element.append(part);
      }
    }
  }

  // ---- one transaction, one key

  const inspector = $("inspector");
  let chosen = -1;
  let cameFrom = null;
  const closeInspector = () => {
    if (inspector.hidden) return false;
    inspector.hidden = true;
    chosen = -1;
    all(".box.chosen").forEach((e) => e.classList.remove("chosen"));
    if (timeline) timeline.setHits(null);
    if (cameFrom && cameFrom.isConnected) cameFrom.focus({ preventScroll: true });
    return true;
  };
  const openInspector = (html) => {
    if (inspector.hidden) cameFrom = document.activeElement;
    inspector.innerHTML = `<button type="button" class="close" aria-label="Close">×</button>${html}`;
    inspector.hidden = false;
    inspector.scrollTop = 0;
    inspector.querySelector(".close").addEventListener("click", closeInspector);
    all("[data-key]", inspector).forEach((b) => b.addEventListener("click", () => chooseKey(Number(b.dataset.key))));
    all("[data-i]", inspector).forEach((b) => b.addEventListener("click", () => choose(Number(b.dataset.i), { reveal: true })));
    all("[data-go]", inspector).forEach((b) => b.addEventListener("click", () => goTo(Number(b.dataset.go))));
  };
  function choose(i, { reveal = false, quiet = false } = {}) {
    chosen = i;
    const id = data.ids[i];
    all(".box").forEach((b) => b.classList.toggle("chosen", b.dataset.txn === String(id)));
    const ops = operations(i).map((op) => {
      const text = escaped(opText(op));
      return op[0] < 8 && op[1] >= 0
        ? `<li><button type="button" data-key="${op[1]}" title="Everything done to ${escaped(keyName(op[1]))}">${text}</button></li>`
        : `<li>${text}</li>`;
    }).join("");
    const ended = data.length[i] >= 0;
    const times = data.places
      ? `from ${moment(startOf(i))} of the file${ended ? ` to ${moment(startOf(i) + data.length[i])}` : " on, its end was not seen"}`
      : `began at ${moment(startOf(i))}${ended ? `, took ${duration(data.length[i])}` : ", its end was not seen"}`;
    const when = data.clock ? `<p>${times}</p>` : "";
    const near = [[-1, "← previous"], [1, "next →"]].map(([step, text]) =>
      (sessionOf[i + step] === sessionOf[i] ? `<button type="button" data-i="${i + step}">${text}</button>` : "")).join("");
    const violations = data.marked.map((ids, v) => (ids.includes(id)
      ? `<button type="button" data-go="${v}">violation ${v + 1}</button>` : "")).join("");
    openInspector(`<h3>${name(i)}</h3><p>${escaped(place(i))} · ${statusWord[data.status[i]]}</p>${when}<ol>${ops}</ol>` +
      `<div class="acts">${near}${violations}</div>`);
    if (!quiet) say(spoken(i));
    if (timeline) timeline.chosenChanged(reveal);
  }
  function chooseKey(k) {
    const hits = [];
    for (let i = 0; i < data.ops.length; i += 1) {
      for (let at = 0; at < data.ops[i].length; at += 3) {
        if (data.ops[i][at] < 8 && data.ops[i][at + 1] === k) hits.push([i, at]);
      }
    }
    hits.sort((a, b) => startOf(a[0]) - startOf(b[0]) || a[0] - b[0] || a[1] - b[1]);
    const most = 200;
    const list = hits.slice(0, most).map(([i, at]) =>
      `<li><button type="button" data-i="${i}">${name(i)}</button> ${escaped(opText(data.ops[i].slice(at, at + 3)))}</li>`).join("");
    const more = hits.length > most ? `<p>… and ${hits.length - most} more</p>` : "";
    const part = data.shown < data.total ? ", of those shown here" : "";
    chosen = -1;
    openInspector(`<h3>${escaped(keyName(k))}</h3><p>${hits.length} operations${part}, in the order of their transactions' ` +
      `${data.clock ? "beginnings" : "places"}</p><ol>${list}</ol>${more}`);
    say(`${keyName(k)}: ${hits.length} operations`);
    if (timeline) timeline.setHits(new Set(hits.map(([i]) => i)));
  }

  // ---- timeline

  class Timeline {
    constructor(host) {
      this.host = host;
      // Faults last as long as they look, so their time is not compressed.
      this.compressed = data.faults.length === 0;
      this.onlyMarked = false;
      this.byNode = data.nodes !== null;
      this.hits = null;
      this.stackFaults();
      this.axis = 24 + this.faultRows * 16;
      host.innerHTML =
        `<div class="controls" role="group" aria-label="Timeline controls">` +
        `<button type="button" data-do="closer" title="Closer (+)" aria-label="Closer">+</button>` +
        `<button type="button" data-do="further" title="Further (−)" aria-label="Further">−</button>` +
        `<button type="button" data-do="whole" title="Everything (0)">All</button>` +
        (articles.length > 0 ? `<button type="button" data-do="violation">This violation</button>` +
          `<button type="button" data-do="only" aria-pressed="false">Only its sessions</button>` : "") +
        (this.byNode ? `<button type="button" data-do="nodes" aria-pressed="true" title="Rows of a node together">By node</button>` : "") +
        (data.clock ? `<button type="button" data-do="compress" aria-pressed="${this.compressed}" title="Makes waits short">Compressed time</button>` : "") +
        `<span class="gap"></span><span class="note"></span></div>` +
        `<svg class="overview" role="img" aria-label="Activity over the whole history; a frame shows the part below" preserveAspectRatio="none"></svg>` +
        (this.paced() ? `<svg class="pace" role="img" aria-label="Commits per second and their latency over the whole history"></svg>` : "") +
        (data.nodes ? `<svg class="nodes" role="img" aria-label="Commits of each node over the whole history"></svg>` : "") +
        `<div class="lane" tabindex="0" role="group" aria-label="Sessions as rows, transactions as boxes; arrow keys go from one to the next, Enter shows it"><svg></svg></div>`;
      this.overview = host.querySelector(".overview");
      this.paceChart = host.querySelector(".pace");
      this.nodeChart = host.querySelector(".nodes");
      this.lane = host.querySelector(".lane");
      this.svg = host.querySelector(".lane svg");
      this.note = host.querySelector(".note");
      this.rowOf = new Map();
      this.setRows();
      this.measure();
      this.whole();
      this.listen();
    }

    marked() { return current >= 0 ? data.marked[current] : []; }

    // Of a few transactions, a rate says nothing.
    paced() { return data.pace !== null && data.total >= 100; }

    // Each fault stands in the first row where the one before it has ended.
    stackFaults() {
      const ends = [];
      this.faults = data.faults.map(([from, to, what]) => ({ from, to: to < 0 ? data.to : to, healed: to >= 0, what }))
        .sort((a, b) => a.from - b.from);
      for (const fault of this.faults) {
        const free = ends.findIndex((end) => end <= fault.from);
        fault.row = free >= 0 ? free : Math.min(ends.length, 7);
        ends[fault.row] = Math.max(ends[fault.row] ?? 0, fault.to);
      }
      this.faultRows = ends.length;
    }
    faultTitle(fault) {
      return escaped(`${fault.what}\n${moment(Math.max(fault.from, 0))} to ${fault.healed ? moment(fault.to) : "the end"}`);
    }

    // A row is a session, or what a session did on one node: those of a node stand together.
    rowKey(i) { return (this.byNode ? nodeOf(i) + 1 : 0) * data.sessions.length + sessionOf[i]; }
    rowName(key) { return data.sessions[key % data.sessions.length][1]; }
    rowNode(key) { return this.byNode ? Math.floor(key / data.sessions.length) - 1 : -1; }
    setRows() {
      this.lists = new Map();
      data.ids.forEach((_, i) => {
        const key = this.rowKey(i);
        if (!this.lists.has(key)) this.lists.set(key, []);
        this.lists.get(key).push(i);
      });
      for (const list of this.lists.values()) list.sort((a, b) => startOf(a) - startOf(b) || a - b);
      const last = (key) => (this.rowNode(key) < 0 ? 1e9 : this.rowNode(key));  // no node: at the end
      let rows = [...this.lists.keys()];
      rows.sort((a, b) => last(a) - last(b) || this.rowName(a).localeCompare(this.rowName(b), "en", { numeric: true }) || a - b);
      if (this.onlyMarked) {
        const wanted = new Set(this.marked().map((id) => placeOf.get(id)).filter((i) => i !== undefined).map((i) => this.rowKey(i)));
        rows = rows.filter((key) => wanted.has(key));
      }
      this.rows = rows;
      this.gutter = this.byNode ? 190 : 96;
      // Few rows leave room for arrows between them.
      this.rowHeight = rows.length <= 12 ? 42 : 30;
      this.boxHeight = 22;
      this.rowOf = new Map(rows.map((key, row) => [key, row]));
    }

    // Where a time stands. In compressed time the step from one event to the next grows
    // with the time between them as far as that is usual, and with its logarithm beyond.
    measure() {
      const times = new Set([0, data.to]);
      for (let i = 0; i < data.start.length; i += 1) { times.add(startOf(i)); times.add(endOf(i)); }
      for (const [from, to] of data.faults) { times.add(from); if (to >= 0) times.add(to); }
      this.times = [...times].sort((a, b) => a - b);
      const gaps = [];
      for (let i = 1; i < this.times.length; i += 1) gaps.push(this.times[i] - this.times[i - 1]);
      const usual = [...gaps].sort((a, b) => a - b)[Math.floor(gaps.length / 2)] || 1;
      this.squeezed = [];
      this.places = [0];
      gaps.forEach((gap, i) => {
        const long = gap / usual > 40;
        const step = !this.compressed || !data.clock ? gap / usual
          : 0.35 + (gap <= 4 * usual ? gap / usual : 4 + Math.log2(gap / (4 * usual)));
        if (this.compressed && data.clock && long) this.squeezed.push(i);
        this.places.push(this.places[i] + step);
      });
      this.end = Math.max(this.places[this.places.length - 1], 1e-9);
    }
    static find(list, x) {  // the last place whose value is at most x
      let low = 0, high = list.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (list[middle] <= x) low = middle; else high = middle - 1;
      }
      return low;
    }
    static between(from, to, x) {
      const i = Math.min(Timeline.find(from, x), from.length - 2);
      if (i < 0) return to[0] || 0;
      const span = from[i + 1] - from[i];
      return to[i] + (span > 0 ? (x - from[i]) / span : 0) * (to[i + 1] - to[i]);
    }
    placeAt(time) { return Timeline.between(this.times, this.places, time); }
    timeAt(place) { return Timeline.between(this.places, this.times, place); }

    whole() { this.view(0, this.end); }
    view(a, b) {
      const least = Math.min(this.end, 2);
      let width = clamp(b - a, least, this.end);
      const middle = (a + b) / 2;
      const from = clamp(middle - width / 2, 0, this.end - width);
      this.from = from;
      this.to = from + width;
      this.draw();
    }
    zoom(factor, at = (this.from + this.to) / 2) {
      this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
    }
    fit(list) {
      if (list.length === 0) return this.whole();
      const a = Math.min(...list.map((i) => this.placeAt(startOf(i))));
      const b = Math.max(...list.map((i) => this.placeAt(endOf(i))));
      const margin = Math.max((b - a) * 0.12, 1.5);
      this.view(a - margin, b + margin);
    }
    fitViolation() {
      const list = this.marked().map((id) => placeOf.get(id)).filter((i) => i !== undefined);
      if (this.onlyMarked) this.setRows();
      if (data.total <= 24) this.whole(); else this.fit(list);
      const row = Math.min(...list.map((i) => this.rowOf.get(this.rowKey(i)) ?? 0));
      if (!Number.isFinite(row)) return;
      this.drawNow(); // the lane scrolls only as far as what is drawn is high
      this.lane.scrollTop = Math.max(0, (row - 1) * this.rowHeight);
      this.draw();
    }
    setHits(hits) { this.hits = hits; this.draw(); }
    chosenChanged(reveal) {
      if (chosen >= 0 && reveal) {
        if (!this.rowOf.has(this.rowKey(chosen))) { this.onlyMarked = false; this.press("only", false); this.setRows(); }
        const a = this.placeAt(startOf(chosen)), b = this.placeAt(endOf(chosen));
        if (a < this.from || b > this.to || (b - a) / (this.to - this.from) < 0.01) {
          const width = Math.min(this.to - this.from, Math.max((b - a) * 12, this.end / 400));
          this.view((a + b - width) / 2, (a + b + width) / 2);
        }
        const top = this.rowOf.get(this.rowKey(chosen)) * this.rowHeight;
        const height = this.lane.clientHeight - this.axis - this.rowHeight;
        if (top < this.lane.scrollTop || top > this.lane.scrollTop + height) this.lane.scrollTop = Math.max(0, top - height / 2);
      }
      this.draw();
    }
    press(what, on) { this.host.querySelector(`[data-do="${what}"]`)?.setAttribute("aria-pressed", String(on)); }

    draw() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.drawNow(); });
    }
    drawNow(wide = this.lane.clientWidth) {
      const width = Math.max(wide, this.gutter + 80);  // a narrower window scrolls
      const height = this.axis + this.rows.length * this.rowHeight + 4;
      const x = (place) => this.gutter + (place - this.from) / (this.to - this.from) * (width - this.gutter - 8);
      const top = this.lane.scrollTop;
      const firstRow = Math.max(0, Math.floor(top / this.rowHeight) - 1);
      const lastRow = Math.min(this.rows.length, Math.ceil((top + Math.max(this.lane.clientHeight, 500)) / this.rowHeight) + 1);
      const out = [];
      const marked = new Set(this.marked());
      for (let row = firstRow; row < lastRow; row += 1) {
        out.push(`<rect class="row" x="0" y="${this.axis + row * this.rowHeight}" width="${width}" height="${this.rowHeight}"/>`);
      }
      // What is not shown one by one.
      const windows = data.windows;
      if (data.shown < data.total) {
        let at = 0;
        for (const [from, to] of [...windows, [data.to, data.to]]) {
          if (from > at) {
            const a = Math.max(x(this.placeAt(at)), this.gutter), b = Math.min(x(this.placeAt(from)), width);
            if (b > a) {
              out.push(`<rect class="hidden-part" x="${a.toFixed(1)}" y="${this.axis}" width="${(b - a).toFixed(1)}" height="${height - this.axis}"/>`);
              if (b - a > 150) out.push(`<text class="tick" x="${((a + b) / 2).toFixed(1)}" y="${this.axis + 18}" text-anchor="middle">counted only</text>`);
            }
          }
          at = Math.max(at, to);
        }
      }
      for (const fault of this.faults) {
        const a = Math.max(x(this.placeAt(fault.from)), this.gutter);
        const b = Math.min(x(this.placeAt(fault.to)), width);
        if (b <= a) continue;
        out.push(`<g><title>${this.faultTitle(fault)}</title><rect class="fault" x="${a.toFixed(1)}" y="${this.axis}" width="${(b - a).toFixed(1)}" height="${height - this.axis}"/></g>`);
      }
      for (const i of this.squeezed) {
        const middle = (this.places[i] + this.places[i + 1]) / 2;
        if (middle < this.from || middle > this.to || this.squeezed.length > 400) continue;
        out.push(`<line class="squeezed" x1="${x(middle).toFixed(1)}" x2="${x(middle).toFixed(1)}" y1="${this.axis}" y2="${height}"/>`);
      }
      this.drawn = [];
      let count = 0, merged = 0;
      for (let row = firstRow; row < lastRow; row += 1) {
        const list = this.lists.get(this.rows[row]);
        const tall = this.boxHeight, y = this.axis + row * this.rowHeight + (this.rowHeight - tall) / 2;
        let denseFrom = null, denseTo = 0, denseCount = 0;
        const flush = () => {
          if (denseFrom === null) return;
          out.push(`<g><title>${denseCount} transactions: come closer to see them</title><rect class="dense" x="${denseFrom.toFixed(1)}" y="${y + 5}" width="${Math.max(denseTo - denseFrom, 1).toFixed(1)}" height="${tall - 10}"/></g>`);
          denseFrom = null;
        };
        for (const i of list) {
          const a = this.placeAt(startOf(i)), b = this.placeAt(endOf(i));
          if (b < this.from || a > this.to) continue;
          const left = Math.max(x(a), this.gutter - 4), right = Math.min(Math.max(x(b), x(a) + 2), width + 4);
          const special = marked.has(data.ids[i]) || i === chosen || (this.hits && this.hits.has(i));
          if (right - left < 4 && !special) {
            merged += 1;
            if (denseFrom !== null && left - denseTo < 1.5) { denseTo = Math.max(denseTo, right); denseCount += 1; continue; }
            flush();
            denseFrom = left; denseTo = right; denseCount = 1;
            continue;
          }
          flush();
          count += 1;
          const kind = (data.status[i] === "c" ? "" : " " + data.status[i]) + (marked.has(data.ids[i]) ? " marked" : "") +
            (i === chosen ? " chosen" : "") + (this.hits && this.hits.has(i) ? " hit" : "");
          const room = right - left - 8;
          let words = "";
          if (room > 5 * 6.7) {
            const ops = operations(i).map(brief).join("  ");
            let text = room > 90 ? `${name(i)}  ${ops}` : name(i);
            const most = Math.floor(room / 6.7);
            if (text.length > most) text = most < 6 || text.indexOf("  ") > most ? name(i).slice(0, most) : text.slice(0, most - 1) + "…";
            words = `<text x="${(left + 4).toFixed(1)}" y="${y + tall / 2 + 4}">${escaped(text)}</text>`;
          }
          // Too narrow for its name: above it, where rows leave the room.
          if (words === "" && marked.has(data.ids[i]) && this.rowHeight > 40 && left > this.gutter) {
            words = `<text class="above" x="${((left + right) / 2).toFixed(1)}" y="${y - 2}" text-anchor="middle">${name(i)}</text>`;
          }
          const hover = count < 1500 ? `<title>${escaped(`${name(i)} · ${place(i)} · ${statusWord[data.status[i]]}\n` + operations(i).map(opText).join("\n"))}</title>` : "";
          out.push(`<g data-i="${i}">${hover}<rect class="t${kind}" rx="3" x="${left.toFixed(1)}" y="${y}" width="${(right - left).toFixed(1)}" height="${tall}"/>${words}</g>`);
        }
        flush();
      }
      out.push(this.links(x, width));
      // Names of sessions and the times, on top of what runs under them.
      out.push(`<rect class="gutter" x="0" y="${this.axis}" width="${this.gutter - 6}" height="${height}"/>`);
      for (let row = firstRow; row < lastRow; row += 1) {
        const session = this.rowName(this.rows[row]);
        const text = session.length > 13 ? session.slice(0, 12) + "…" : session;
        const y = this.axis + row * this.rowHeight;
        out.push(`<text class="session" x="${this.gutter - 88}" y="${y + this.rowHeight / 2 + 4}">${escaped(text)}<title>session ${escaped(session)}</title></text>`);
        const node = this.rowNode(this.rows[row]);
        const first = row === firstRow || this.rowNode(this.rows[row - 1]) !== node;
        if (!this.byNode || !first) continue;
        // The name stays in view while rows of its node are.
        const inView = Math.max(y, top + this.axis);
        if (y < inView && this.rowNode(this.rows[row + 1]) !== node) continue;
        out.push(`<text class="node" x="8" y="${inView + this.rowHeight / 2 + 4}">${escaped(this.nodeName(node))}</text>` +
          (row > 0 && this.rowNode(this.rows[row - 1]) !== node ? `<line class="between" x1="0" x2="${width}" y1="${y}" y2="${y}"/>` : ""));
      }
      out.push(`<rect class="axis" x="0" y="${top}" width="${width}" height="${this.axis}"/><line class="rule" x1="0" x2="${width}" y1="${top + this.axis - .5}" y2="${top + this.axis - .5}"/>`);
      out.push(`<text class="tick" x="${this.gutter - 88}" y="${top + 16}">session</text>`);
      if (this.byNode) out.push(`<text class="tick" x="8" y="${top + 16}">node</text>`);
      const ticks = Math.max(2, Math.floor((width - this.gutter) / 130));
      for (let k = 0; k <= ticks && data.clock; k += 1) {
        const at = this.from + (this.to - this.from) * k / ticks;
        const anchor = k === 0 ? "start" : k === ticks ? "end" : "middle";
        out.push(`<text class="tick" x="${x(at).toFixed(1)}" y="${top + 16}" text-anchor="${anchor}">${moment(Math.round(this.timeAt(at)))}</text>`);
      }
      if (!data.clock) out.push(`<text class="tick" x="${this.gutter}" y="${top + 16}">place in the session: no times were recorded</text>`);
      out.push(this.faultBars(x, width, top));
      this.svg.setAttribute("width", width);
      this.svg.setAttribute("height", height);
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.innerHTML = out.join("");
      const part = data.shown < data.total ? `${data.shown.toLocaleString("en")} of ${data.total.toLocaleString("en")} transactions in this page; ` : "";
      this.note.textContent = part + (merged > 0 ? "closer shows single transactions" : "");
      this.drawOverview();
    }

    // The names of the faults, under the times. A name may stand out of its bar, up to the next one.
    faultBars(x, width, top) {
      const out = [];
      if (this.faultRows > 0) out.push(`<text class="tick" x="8" y="${top + 36}">faults</text>`);
      this.faults.forEach((fault, i) => {
        const a = Math.max(x(this.placeAt(fault.from)), this.gutter), b = Math.min(x(this.placeAt(fault.to)), width);
        if (b < this.gutter || a > width) return;
        const next = this.faults.slice(i + 1).find((other) => other.row === fault.row);
        const room = Math.min(next ? x(this.placeAt(next.from)) : width, width) - a - 8;
        const most = Math.max(0, Math.floor(room / 6.1));
        const text = fault.what.length <= most ? fault.what : most < 3 ? "" : fault.what.slice(0, most - 1) + "…";
        const y = top + 24 + fault.row * 16;
        out.push(`<g><title>${this.faultTitle(fault)}</title><rect class="fault-bar" rx="3" x="${a.toFixed(1)}" y="${y}" width="${Math.max(b - a, 2).toFixed(1)}" height="13"/>` +
          `<text class="fault-name" x="${(a + 4).toFixed(1)}" y="${y + 10}">${escaped(text)}</text></g>`);
      });
      return out.join("");
    }

    // The circle of the current violation.
    links(x, width) {
      if (current < 0) return "";
      const out = [];
      const tips = ["wr", "ww", "rw", "so", "rt"].map((kind) =>
        `<marker id="tip-${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="link-tip" style="fill:var(--${kind})" d="M0,0.5 L8,4 L0,7.5 Z"/></marker>`);
      const used = new Map();
      for (const arrow of all(".arrow.cycle", articles[current])) {
        const a = placeOf.get(Number(arrow.dataset.from)), b = placeOf.get(Number(arrow.dataset.to));
        if (a === undefined || b === undefined) continue;
        const rows = [a, b].map((i) => this.rowOf.get(this.rowKey(i)));
        if (rows.includes(undefined)) continue;
        const ends = (i) => [x(this.placeAt(startOf(i))), x(this.placeAt(endOf(i)))];
        const [la, ra] = ends(a), [lb, rb] = ends(b);
        if (Math.max(ra, rb) < this.gutter || Math.min(la, lb) > width) continue;
        // Between the sides that are next to each other; a second arrow stands beside the first.
        const pair = [Math.min(a, b), Math.max(a, b)].join();
        const turn = used.get(pair) || 0;
        used.set(pair, turn + 1);
        const inset = (l, r) => Math.min(12 + 14 * turn, (r - l) / 2);
        const overlap = Math.max(la, lb) < Math.min(ra, rb);
        const common = (Math.max(la, lb) + Math.min(ra, rb)) / 2 + 14 * turn - 7;
        const xa = overlap ? common : la < lb ? ra - inset(la, ra) : la + inset(la, ra);
        const xb = overlap ? common : lb < la ? rb - inset(lb, rb) : lb + inset(lb, rb);
        const down = rows[0] === rows[1] ? (turn === 0 ? -1 : 1) : Math.sign(rows[1] - rows[0]);
        const centre = (row) => this.axis + (row + .5) * this.rowHeight;
        const ya = centre(rows[0]) + down * this.boxHeight / 2;
        const yb = rows[0] === rows[1] ? ya : centre(rows[1]) - down * this.boxHeight / 2;
        // Through the gap beside the row it leaves.
        const gap = ya + down * (this.rowHeight - this.boxHeight) * (turn === 0 ? .8 : 1.1);
        const back = rows[0] === rows[1] ? gap : yb - down * (this.rowHeight - this.boxHeight) * (turn === 0 ? .8 : 1.1);
        const kind = [...arrow.classList].find((c) => /^(wr|ww|rw|so|rt)$/.test(c));
        out.push(`<path class="link ${kind}${arrow.classList.contains("inferred") ? " inferred" : ""}" marker-end="url(#tip-${kind})" d="M${xa.toFixed(1)},${ya.toFixed(1)} C${xa.toFixed(1)},${gap.toFixed(1)} ${xb.toFixed(1)},${back.toFixed(1)} ${xb.toFixed(1)},${yb.toFixed(1)}"/>`);
      }
      return out.length > 0 && out.length <= 40 ? `<defs>${tips.join("")}</defs>${out.join("")}` : "";
    }

    // Commits per second, and under them the latencies, on a logarithmic scale.
    drawPace() {
      if (!this.paceChart) return;
      const width = this.paceChart.clientWidth || 1000;
      if (this.paceWidth === width) return;
      this.paceWidth = width;
      const { commits, p50, p99 } = data.pace, columns = commits.length;
      const wide = width / columns, tall = 40, second = data.to / columns / 1e9;
      const most = Math.max(1, ...commits);
      const seen = p50.concat(p99).filter((t) => t > 0);
      const least = Math.log(Math.min(...seen, 1e9)), span = Math.max(Math.log(Math.max(...seen, 1)) - least, 1e-9);
      const height = (t) => 2 * tall + 4 - (Math.log(Math.max(t, 1)) - least) / span * (tall - 14);
      const line = (list) => {
        let path = "", pen = false;
        list.forEach((t, c) => {
          if (t >= 0) path += `${pen ? "L" : "M"}${(c * wide).toFixed(1)} ${height(t).toFixed(1)}H${((c + 1) * wide).toFixed(1)}`;
          pen = t >= 0;
        });
        return path;
      };
      let rate = "", titles = "";
      commits.forEach((n, c) => {
        const y = tall - n / most * (tall - 14);
        if (n > 0) rate += `M${(c * wide).toFixed(1)} ${tall}V${y.toFixed(1)}h${(wide + .3).toFixed(1)}V${tall}z`;
        const latency = n > 0 ? `\nlatency p50 ${duration(p50[c])}, p99 ${duration(p99[c])}` : "";
        titles += `<rect class="catch" x="${(c * wide).toFixed(1)}" y="0" width="${wide.toFixed(1)}" height="${2 * tall + 8}"><title>${moment(Math.round(data.to * c / columns))}: ${Math.round(n / second).toLocaleString("en")} commits/s${latency}</title></rect>`;
      });
      const faults = this.faults.map((fault) => `<rect class="fault" x="${(fault.from / Math.max(data.to, 1) * width).toFixed(1)}" y="0" width="${Math.max(1, (fault.to - fault.from) / Math.max(data.to, 1) * width).toFixed(1)}" height="${2 * tall + 8}"/>`).join("");
      this.paceChart.setAttribute("viewBox", `0 0 ${width} ${2 * tall + 8}`);
      this.paceChart.innerHTML = faults + `<path class="rate" d="${rate}"/><path class="p99" d="${line(p99)}"/><path class="p50" d="${line(p50)}"/>` +
        `<text x="6" y="11">commits/s, at most ${Math.round(most / second).toLocaleString("en")}</text>` +
        (seen.length > 0 ? `<text x="6" y="${tall + 14}">latency <tspan class="p50-name">p50</tspan> and <tspan class="p99-name">p99</tspan>, ${duration(Math.min(...seen))} to ${duration(Math.max(...seen))}</text>` : "") + titles;
    }

    nodeName(node) {
      const text = node < 0 ? "unknown" : data.nodes.short[node];
      return text.length > 13 ? "…" + text.slice(-12) : text;
    }

    // What each node committed, when; where it was the primary, a line above it says so.
    drawNodes() {
      if (!this.nodeChart) return;
      const width = this.nodeChart.clientWidth || 1000;
      if (this.nodesWidth === width) return;
      this.nodesWidth = width;
      const { names, short, commits, roles } = data.nodes;
      const tall = 26, columns = data.grid.columns, wide = width / columns;
      const second = data.to / columns / 1e9;
      const most = Math.max(1, ...commits.map((list) => Math.max(...list)));
      const height = names.length * tall;
      let out = this.faults.map((fault) => `<rect class="fault" x="${(fault.from / Math.max(data.to, 1) * width).toFixed(1)}" y="0" width="${Math.max(1, (fault.to - fault.from) / Math.max(data.to, 1) * width).toFixed(1)}" height="${height}"/>`).join("");
      names.forEach((whole, n) => {
        const y = n * tall, foot = y + tall - 2;
        let bars = "", primary = "", titles = "";
        const has = { p: false, r: false };
        commits[n].forEach((count, c) => {
          const role = roles[n][c], x = (c * wide).toFixed(1);
          if (count > 0) bars += `M${x} ${foot}V${(foot - 2 - count / most * (tall - 8)).toFixed(1)}h${(wide + .3).toFixed(1)}V${foot}z`;
          if (role === "p") primary += `M${x} ${y + 3}h${(wide + .3).toFixed(1)}`;
          if (role in has) has[role] = true;
          titles += `<rect class="catch" x="${x}" y="${y}" width="${wide.toFixed(1)}" height="${tall}"><title>${escaped(whole)}\n${moment(Math.round(data.to * c / columns))}: ${Math.round(count / second).toLocaleString("en")} commits/s${roleWord[role] ? `, ${roleWord[role]}` : ""}</title></rect>`;
        });
        const role = has.p && has.r ? ", primary where overlined" : has.p ? ", primary" : has.r ? ", replica" : "";
        out += `<line class="rule" x1="0" x2="${width}" y1="${foot + 1}" y2="${foot + 1}"/><path class="rate" d="${bars}"/><path class="primary" d="${primary}"/>` +
          `<text x="6" y="${y + 16}">${escaped(short[n])}${role}</text>${titles}`;
      });
      this.nodeChart.style.height = `${height}px`;
      this.nodeChart.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.nodeChart.innerHTML = out;
    }

    drawOverview() {
      this.drawPace();
      this.drawNodes();
      const width = this.overview.clientWidth || 1000, height = 48;
      const { columns, rows, count, failed } = data.grid;
      if (!this.grid || this.gridWidth !== width) {
        const most = Math.max(1, ...count);
        const levels = ["", "", "", "", ""];
        const tall = (height - 6) / Math.max(rows.length, 1), wide = width / columns;
        let lost = "";
        for (let c = 0; c < columns; c += 1) {
          let sum = 0, bad = 0;
          for (let r = 0; r < rows.length; r += 1) {
            const n = count[r * columns + c];
            sum += n;
            bad += failed[r * columns + c];
            if (n === 0) continue;
            const level = Math.min(4, Math.floor(n / most * 5));
            levels[level] += `M${(c * wide).toFixed(1)} ${(r * tall).toFixed(1)}h${wide.toFixed(1)}v${Math.max(tall - .5, .6).toFixed(1)}h-${wide.toFixed(1)}z`;
          }
          if (bad > 0) lost += `M${(c * wide).toFixed(1)} ${height}h${wide.toFixed(1)}v${(-5 * bad / sum).toFixed(1)}h-${wide.toFixed(1)}z`;
        }
        this.grid = levels.map((d, i) => `<path class="dense" opacity="${0.3 + 0.17 * i}" d="${d}"/>`).join("") +
          `<path style="fill:var(--ww)" d="${lost}"><title>aborted or unknown</title></path>`;
        this.gridWidth = width;
      }
      const scale = (time) => time / Math.max(data.to, 1) * width;
      const faults = data.faults.map(([from, to]) => `<rect class="fault" x="${scale(from).toFixed(1)}" y="0" width="${Math.max(1, scale((to < 0 ? data.to : to) - from)).toFixed(1)}" height="${height}"/>`).join("");
      const here = this.marked().map((id) => placeOf.get(id)).filter((i) => i !== undefined)
        .map((i) => `<rect class="here" x="${(scale(startOf(i)) - 1).toFixed(1)}" y="0" width="2" height="${height}"/>`).join("");
      const a = scale(this.timeAt(this.from)), b = scale(this.timeAt(this.to));
      this.overview.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.overview.innerHTML = this.grid + faults + here +
        `<rect class="brush" x="${Math.max(a, .75).toFixed(1)}" y=".75" width="${Math.max(3, Math.min(b, width - .75) - Math.max(a, .75)).toFixed(1)}" height="${height - 1.5}" rx="3"/>`;
    }

    // To the nearest transaction in a direction.
    step(dx, dy) {
      if (chosen < 0) {
        const seen = all("[data-i]", this.svg);
        const first = this.marked().map((id) => placeOf.get(id)).find((i) => i !== undefined);
        const i = first ?? (seen.length > 0 ? Number(seen[0].dataset.i) : this.lists.get(this.rows[0])[0]);
        if (i !== undefined) choose(i, { reveal: true });
        return;
      }
      const row = this.rowOf.get(this.rowKey(chosen)) ?? 0;
      if (dx !== 0) {
        const list = this.lists.get(this.rowKey(chosen));
        const next = list[list.indexOf(chosen) + dx];
        if (next !== undefined) choose(next, { reveal: true });
        return;
      }
      const target = this.rows[row + dy];
      if (target === undefined) return;
      const list = this.lists.get(target);
      const at = (startOf(chosen) + endOf(chosen)) / 2;
      let best = list[0];
      for (const i of list) {
        if (Math.abs((startOf(i) + endOf(i)) / 2 - at) < Math.abs((startOf(best) + endOf(best)) / 2 - at)) best = i;
      }
      if (best !== undefined) choose(best, { reveal: true });
    }

    act(what) {
      if (what === "closer") this.zoom(0.5);
      if (what === "further") this.zoom(2);
      if (what === "whole") this.whole();
      if (what === "violation") this.fitViolation();
      if (what === "only") {
        this.onlyMarked = !this.onlyMarked;
        this.press("only", this.onlyMarked);
        this.setRows();
        this.draw();
      }
      if (what === "nodes") {
        this.byNode = !this.byNode;
        this.press("nodes", this.byNode);
        this.setRows();
        this.draw();
      }
      if (what === "compress") {
        const a = this.timeAt(this.from), b = this.timeAt(this.to);
        this.compressed = !this.compressed;
        this.press("compress", this.compressed);
        this.measure();
        this.view(this.placeAt(a), this.placeAt(b));
      }
    }

    listen() {
      this.host.addEventListener("click", (event) => {
        const button = event.target.closest("[data-do]");
        if (button) this.act(button.dataset.do);
      });
      this.lane.addEventListener("scroll", () => this.draw());
      this.lane.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
        if (steps[event.key]) this.step(...steps[event.key]);
        else if (event.key === "Enter") { if (chosen >= 0) choose(chosen); else this.step(0, 0); }
        else if (event.key === "+" || event.key === "=") this.act("closer");
        else if (event.key === "-") this.act("further");
        else if (event.key === "0") this.act("whole");
        else return;
        event.preventDefault();
      });
      let drag = null;
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        drag = { x: event.clientX, from: this.from, to: this.to, moved: false, i: event.target.closest("[data-i]")?.dataset.i };
        this.svg.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (!drag) return;
        const by = (event.clientX - drag.x) / Math.max(this.lane.clientWidth - this.gutter, 80) * (drag.to - drag.from);
        if (Math.abs(event.clientX - drag.x) > 4) { drag.moved = true; this.svg.classList.add("dragging"); }
        if (drag.moved) this.view(drag.from - by, drag.to - by);
      });
      const drop = () => {
        if (drag && !drag.moved && drag.i !== undefined) choose(Number(drag.i), { reveal: false });
        drag = null;
        this.svg.classList.remove("dragging");
      };
      this.svg.addEventListener("pointerup", drop);
      this.svg.addEventListener("pointercancel", () => { drag = null; });
      this.lane.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) {
          const box = this.lane.getBoundingClientRect();
          const share = clamp((event.clientX - box.left - this.gutter) / Math.max(box.width - this.gutter, 80), 0, 1);
          this.zoom(Math.exp(clamp(event.deltaY, -60, 60) / 120), this.from + share * (this.to - this.from));
        } else {
          const by = event.deltaX / this.lane.clientWidth * (this.to - this.from);
          this.view(this.from + by, this.to + by);
        }
      }, { passive: false });
      const centre = (event) => {
        const box = this.overview.getBoundingClientRect();
        const time = clamp((event.clientX - box.left) / box.width, 0, 1) * data.to;
        const at = this.placeAt(time), half = (this.to - this.from) / 2;
        this.view(at - half, at + half);
      };
      let brushing = false;
      this.overview.addEventListener("pointerdown", (event) => { brushing = true; this.overview.setPointerCapture(event.pointerId); centre(event); });
      this.overview.addEventListener("pointermove", (event) => { if (brushing) centre(event); });
      this.overview.addEventListener("pointerup", () => { brushing = false; });
      addEventListener("resize", () => this.draw());
    }
  }

  const host = $("timeline-here");
  const timeline = data && host && data.ids.length > 0 ? new Timeline(host) : null;
  if (host && !timeline) host.textContent = "There are no transactions.";
  if (timeline && current >= 0) timeline.fitViolation();
  showWhich();

  // ---- search

  const search = $("search"), results = $("results");
  let found = [], selected = 0;
  const find = (text) => {
    const query = text.trim();
    if (query === "" || !data) return [];
    const list = [];
    const label = /^t?(\d+)$/i.exec(query);
    if (label) {
      const exact = byLabel.get(Number(label[1])) || [];
      const more = [];
      for (const [other, places] of byLabel) {
        if (more.length >= 6) break;
        if (String(other) !== label[1] && String(other).startsWith(label[1])) more.push(...places);
      }
      for (const i of [...exact.slice(0, 12), ...more]) list.push({ i, title: name(i), detail: place(i) });
    }
    const wanted = query.toLowerCase().replace(/^key /, "");
    const keys = [];
    for (let k = 0; k < data.keys.length && keys.length < 400; k += 1) {
      const text = data.keys[k].toLowerCase();
      if (text.includes(wanted)) keys.push([text === wanted ? 0 : text.startsWith(wanted) ? 1 : 2, text.length, k]);
    }
    keys.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    const ofKeys = keys.slice(0, 6).map(([, , k]) => ({ k, title: keyName(k), detail: "key" }));
    // A number without T is the key of that name, if there is one, before the transaction.
    const asked = label && !/^t/i.test(query) && keys.length > 0 && keys[0][0] === 0 ? ofKeys.splice(0, 1) : [];
    return [...asked, ...list.slice(0, 8), ...ofKeys].slice(0, 14);
  };
  const showResults = () => {
    found = find(search.value);
    selected = 0;
    const open = search.value.trim() !== "";
    results.hidden = !open;
    search.setAttribute("aria-expanded", String(open));
    const part = data && data.shown < data.total ? ` among the ${data.shown.toLocaleString("en")} transactions in this page` : "";
    results.innerHTML = found.length === 0 ? `<li class="none">Nothing of that name${part}</li>`
      : found.map((r, n) => `<li role="option" id="result-${n}" aria-selected="${n === selected}" data-n="${n}">${escaped(r.title)} <span>${escaped(r.detail)}</span></li>`).join("");
    pointAt(0);
  };
  const pointAt = (n) => {
    if (found.length === 0) { search.removeAttribute("aria-activedescendant"); return; }
    selected = (n + found.length) % found.length;
    all("[role=option]", results).forEach((li, k) => li.setAttribute("aria-selected", String(k === selected)));
    search.setAttribute("aria-activedescendant", `result-${selected}`);
    $(`result-${selected}`).scrollIntoView({ block: "nearest" });
  };
  const closeResults = () => { results.hidden = true; search.setAttribute("aria-expanded", "false"); };
  const take = (n) => {
    const r = found[n];
    if (!r) return;
    closeResults();
    if (host) host.scrollIntoView({ block: "nearest" });
    if (r.i !== undefined) choose(r.i, { reveal: true }); else chooseKey(r.k);
  };
  search.addEventListener("input", showResults);
  search.addEventListener("focus", () => { if (search.value.trim() !== "") showResults(); });
  search.addEventListener("blur", () => setTimeout(closeResults, 150));
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") pointAt(selected + 1);
    else if (event.key === "ArrowUp") pointAt(selected - 1);
    else if (event.key === "Enter") take(selected);
    else if (event.key === "Escape") { search.value = ""; closeResults(); search.blur(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  results.addEventListener("pointerdown", (event) => {
    const li = event.target.closest("[data-n]");
    if (li) { event.preventDefault(); take(Number(li.dataset.n)); }
  });

  // ---- keys

  const help = $("help");
  $("help-open").addEventListener("click", () => help.showModal());
  $("previous")?.addEventListener("click", () => goTo(current - 1));
  $("next")?.addEventListener("click", () => goTo(current + 1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    switch (event.key) {
      case "/": search.focus(); search.select(); break;
      // The first press goes to the violation that the timeline shows already.
      case "n": goTo(articles.includes(document.activeElement?.closest?.(".violation")) ? current + 1 : current); break;
      case "p": goTo(current - 1); break;
      case "d": toggleTheme(); break;
      case "t": if (timeline) { host.scrollIntoView({ block: "nearest" }); timeline.lane.focus(); } break;
      case "?": help.showModal(); break;
      case "Escape": if (!closeInspector()) return; break;
      default: return;
    }
    event.preventDefault();
  });
  const fromHash = () => {
    const number = /^#violation-(\d+)$/.exec(location.hash);
    if (number && articles[number[1] - 1]) goTo(number[1] - 1, false);
  };
  addEventListener("hashchange", fromHash);
  fromHash();

  // ---- print: every step open, the timeline as wide as the paper

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open])");
    closed.forEach((details) => { details.open = true; });
    all("svg.dimmed").forEach((svg) => svg.classList.remove("dimmed"));
    if (timeline) timeline.drawNow(1000);
  });
  addEventListener("afterprint", () => {
    closed.forEach((details) => { details.open = false; });
    if (timeline) timeline.draw();
  });
})();
