// The playground: text or a file in, an answer out. The check runs in a worker, which is made of the
// text of this page, so the page asks nobody for anything.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const text = $("history");
  const examples = JSON.parse($("examples").textContent);

  // ---- small things

  function element(name, attributes = {}, ...inside) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...inside.filter((one) => one !== null && one !== undefined));
    return made;
  }
  const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const counted = (number, one, many) => `${thousands(number)} ${number === 1 ? one : many}`;

  const theme = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  };
  $("theme").addEventListener("click", theme);

  // ---- the worker

  let worker = null;
  let wasmBytes = null;
  let ready = false;
  let waiting = null;  // the newest check that has not begun
  let running = null;
  let number = 0;

  async function bytesOfCore() {
    const packed = atob($("wasm").textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  async function startWorker() {
    ready = false;
    const source = URL.createObjectURL(new Blob([$("core").textContent], { type: "text/javascript" }));
    const made = new Worker(source);
    worker = made;
    made.addEventListener("message", ({ data }) => {
      if (made === worker) heard(data);
    });
    made.addEventListener("error", (event) => {
      event.preventDefault();
      if (made === worker) broke(event.message || "the worker did not start");
    });
    try {
      wasmBytes ??= await bytesOfCore();
    } catch (error) {
      return broke(String(error));
    }
    if (made === worker) made.postMessage({ start: wasmBytes });
    URL.revokeObjectURL(source);
  }
  function broke(why) {
    state(`cupel could not start here: ${why}. A current browser with WebAssembly is needed.`, "bad");
  }
  function heard(data) {
    if (data.broken !== undefined) return broke(data.broken);
    if (data.ready !== undefined) {
      ready = true;
      if ($("level").options.length === 1) {
        for (const level of data.levels) $("level").append(element("option", { value: level }, level));
      }
      return next();
    }
    if (running === null || data.id !== running.id) return undefined;
    const asked = running;
    running = null;
    $("stop").hidden = true;
    if (data.fatal) restart();
    if (data.problem !== undefined) {
      // While a text is typed it is often wrong: the last answer stays until the problem is shown.
      showProblem(data.problem, asked);
    } else {
      showAnswer(data.result, asked);
    }
    next();
    return undefined;
  }
  function restart() {
    worker?.terminate();
    running = null;
    startWorker();
  }
  function next() {
    if (!ready || running !== null || waiting === null) return;
    running = waiting;
    waiting = null;
    document.querySelector(".output").setAttribute("aria-busy", "true");
    const id = running.id;
    setTimeout(() => {
      if (running?.id !== id) return;
      $("stop").hidden = false;
      state("Checking…");
    }, 250);
    const { name, content, level, seconds } = running;
    worker.postMessage({ id, name, content, level, seconds });
  }
  $("stop").addEventListener("click", () => {
    $("stop").hidden = true;
    waiting = null;
    restart();
    state("Stopped.");
    document.querySelector(".output").setAttribute("aria-busy", "false");
  });

  // ---- what goes in

  let file = null;  // {name, bytes} of a file that is not in the text field
  const kMostShown = 300_000;

  function ask() {
    number += 1;
    const level = $("level").value;
    const seconds = Number($("limit").value);
    if (file === null && text.value.trim() === "") {
      waiting = null;
      hideProblem();
      $("answer").replaceChildren();
      document.querySelector(".output").setAttribute("aria-busy", "false");
      return state("Type a history, or pick an example.");
    }
    waiting = { id: number, name: file?.name ?? "history", content: file?.bytes ?? text.value, level, seconds };
    return next();
  }

  function forgetFile() {
    file = null;
    $("loaded").hidden = true;
    text.readOnly = false;
  }
  async function load(chosen) {
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    $("gallery").value = "";
    $("about").textContent = "";
    let decoded = null;
    if (bytes.length <= kMostShown) {
      try {
        decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
        if (decoded.includes("\0")) decoded = null;
      } catch { /* not a text */ }
    }
    forgetFile();
    if (decoded !== null) {
      text.value = decoded;
      note(`${chosen.name}, ${counted(bytes.length, "byte", "bytes")}`);
    } else {
      file = { name: chosen.name, bytes };
      text.value = "";
      text.readOnly = true;
      note(`${chosen.name}, ${counted(bytes.length, "byte", "bytes")}: too long or not a text, so it is not shown. `, element("button", { type: "button", id: "forget" }, "Type a history instead"));
      $("forget").addEventListener("click", () => {
        forgetFile();
        text.focus();
        ask();
      });
    }
    ask();
  }
  function note(...inside) {
    $("loaded").replaceChildren(...inside);
    $("loaded").hidden = false;
  }

  const about = element("p", { id: "about", class: "note" });
  document.querySelector(".input .row").after(about);
  const byName = new Map();
  for (const { group, entries } of examples) {
    const list = element("optgroup", { label: group });
    for (const entry of entries) {
      byName.set(entry.name, entry);
      list.append(element("option", { value: entry.name }, entry.name));
    }
    $("gallery").append(list);
  }
  function pick(name) {
    const entry = byName.get(name);
    forgetFile();
    about.textContent = entry?.what ?? "";
    if (entry !== undefined) text.value = entry.text;
    else text.focus();
    ask();
  }
  $("gallery").addEventListener("change", () => pick($("gallery").value));

  let pause = 0;
  text.addEventListener("input", () => {
    $("gallery").value = "";
    about.textContent = "";
    $("loaded").hidden = true;
    clearTimeout(pause);
    pause = setTimeout(ask, text.value.length < 20_000 ? 350 : 1200);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
  });
  $("check").addEventListener("click", ask);
  $("level").addEventListener("change", ask);
  $("limit").addEventListener("change", ask);
  $("open").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => {
    if ($("file").files.length > 0) load($("file").files[0]);
    $("file").value = "";
  });
  let dragged = 0;
  const dragging = (change) => {
    dragged = change === 0 ? 0 : Math.max(0, dragged + change);
    document.body.classList.toggle("dragged", dragged > 0);
  };
  addEventListener("dragenter", (event) => (event.preventDefault(), dragging(1)));
  addEventListener("dragleave", () => dragging(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    dragging(0);
    const [dropped, ...others] = event.dataTransfer.files;
    if (dropped !== undefined && others.length === 0) load(dropped);
    else if (dropped !== undefined) showProblem(`found ${others.length + 1} files, expected one`, null);
  });

  // ---- what comes out

  function state(words, kind = "") {
    $("state").className = `state ${kind}`;
    $("state").textContent = words;
    $("state").hidden = words === "";
  }
  function hideProblem() {
    $("problem").hidden = true;
    text.removeAttribute("aria-invalid");
  }
  // "history:3:7: found …": the line can be gone to.
  function showProblem(message, asked) {
    document.querySelector(".output").setAttribute("aria-busy", "false");
    const typed = asked !== null && asked.content === text.value && file === null;
    const place = typed ? message.match(/^history:(?:line )?(\d+)(?::(\d+))?:? ?([^]*)$/) : null;
    const inside = place === null ? [message.replace(/^history: /, "")] : [];
    if (place !== null) {
      const go = element("button", { type: "button", class: "go" },
        `line ${place[1]}${place[2] ? `, column ${place[2]}` : ""}`);
      go.addEventListener("click", () => goTo(Number(place[1]), Number(place[2] ?? 1)));
      inside.push(go, `: ${place[3]}`);
    }
    $("problem").replaceChildren(element("strong", {}, "Not a history"), " ", ...inside);
    $("problem").hidden = false;
    text.setAttribute("aria-invalid", "true");
    $("answer").replaceChildren();
    state("");
  }
  function goTo(line, column) {
    const lines = text.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(begin + column - 1, begin + (lines[line - 1]?.length ?? 0));
  }

  const kMarks = { satisfied: "✓ satisfied", violated: "✗ violated", unknown: "? unknown", refused: "– refused" };

  function ladder(result) {
    const body = element("tbody");
    for (const level of result.levels) {
      const how = result.json.levels?.find((one) => one.level === level.name)?.decided_by ?? "";
      const said = level.detail.replace(`${level.name} `, "")
        || (level.anomalies.length > 0 ? [...new Set(level.anomalies.map((one) => one.name))].join(", ") : how.replace(/^implied-by:/, "follows from "));
      body.append(element("tr", { class: level.verdict },
        element("th", { scope: "row" }, level.name),
        element("td", {}, element("span", { class: `pill ${level.verdict}` }, kMarks[level.verdict])),
        element("td", {}, said)));
    }
    return element("table", { class: "ladder" },
      element("thead", {}, element("tr", {}, ...["Level", "Verdict", "Why"].map((one) => element("th", { scope: "col" }, one)))),
      body);
  }

  // The policy of the page forbids the picture's own style sheet; web/report.css has the same for a page.
  function picture(svg) {
    const bare = svg.replace(/<style>[^]*?<\/style>/, "");
    const drawn = document.importNode(new DOMParser().parseFromString(bare, "image/svg+xml").documentElement, true);
    drawn.querySelector("rect.paper")?.remove();
    drawn.querySelector("text.title")?.remove();
    // Nor is the title's place needed.
    const title = 26;
    const [, , width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
    drawn.setAttribute("viewBox", `0 ${title} ${width} ${height - title}`);
    drawn.setAttribute("height", Number(drawn.getAttribute("height")) * (1 - title / height));
    const boxed = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Picture of the violation" });
    boxed.append(drawn);
    return element("figure", { class: "drawing" }, boxed);
  }

  function save(name, type, bytes) {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      const url = URL.createObjectURL(new Blob([bytes], { type }));
      element("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    });
    return button;
  }

  function headline(result) {
    const violated = result.levels.filter((one) => one.verdict === "violated");
    const strongest = result.json.strongest_satisfied ?? [];
    const listed = (names) => names.join(names.length > 2 ? ", " : " and ");
    if (violated.length > 0) {
      const weakest = result.json.weakest_violated ?? [violated[0].name];
      return ["violated", `Violates ${listed(weakest)}${strongest.length > 0 ? `; satisfies ${listed(strongest)}` : ""}`];
    }
    if (result.levels.some((one) => one.verdict === "unknown")) return ["unknown", "A limit was reached before every level was decided"];
    if (strongest.length === 0) return ["unknown", "No level applies to this history"];
    return ["satisfied", `Satisfies ${listed(strongest)}`];
  }

  // Its lines are wrapped for a terminal: those that go on are put together again.
  function explanation(words) {
    const lines = [];
    let before = "";
    for (const raw of words.split("\n")) {
      const indent = raw.match(/^ */)[0].length;
      const line = raw.trim();
      const last = lines[lines.length - 1];
      // The first line had the name of the anomaly before it.
      const heads = /^\w[\w ]*:$/.test(line);
      const lead = last?.indent === 0 && indent === 2 && !heads;
      const full = last !== undefined && !heads && indent > last.indent && before.length + 1 + line.split(" ")[0].length > 88;
      if (lead || full) last.line += ` ${line}`;
      else if (line !== "") lines.push({ indent, line: line.replace(/ {3,}/g, " · ") });
      before = raw;
    }
    return element("div", { class: "because" }, ...lines.map(({ indent, line }) =>
      element("div", { class: `in${Math.min(5, Math.floor(indent / 2))}` }, line)));
  }

  function violations(result) {
    const shown = new Map();  // by explanation, the levels
    for (const level of result.levels) {
      for (const anomaly of level.anomalies) {
        const key = `${anomaly.name}\n${anomaly.explanation}`;
        if (!shown.has(key)) shown.set(key, { anomaly, levels: [] });
        shown.get(key).levels.push(level.name);
      }
    }
    return [...shown.values()].map(({ anomaly, levels }, index) => {
      const part = element("article", { class: "violation" },
        element("header", {}, element("h3", {}, anomaly.name), element("span", { class: "forbids" }, `violates ${levels.join(", ")}`)));
      if (index === 0 && result.svg !== null) part.append(picture(result.svg));
      part.append(explanation(anomaly.explanation));
      const page = result.pages[anomaly.name];
      if (page !== undefined) {
        part.append(element("details", { class: "narrative" },
          element("summary", {}, `What is ${anomaly.name}?`), element("pre", {}, page)));
      }
      return part;
    });
  }

  function secondOpinion(result) {
    if (result.unverified !== undefined) return `The evidence could not be checked again: ${result.unverified}.`;
    if (!result.verified.valid) return `The second check rejects the evidence: ${result.verified.reason}. Please report this as a bug.`;
    const count = result.verified.answers.length;
    return `The evidence for ${counted(count, "verdict", "verdicts")} was checked again by independent code: it is valid.`;
  }

  function showAnswer(result, asked) {
    hideProblem();
    document.querySelector(".output").setAttribute("aria-busy", "false");
    const [verdict, words] = headline(result);
    const name = asked.name === "history" ? "" : `${asked.name}: `;
    state("");
    const facts = `${name}${counted(result.transactions, "transaction", "transactions")} of ${counted(result.sessions, "session", "sessions")}, `
      + `${counted(result.operations, "operation", "operations")}, checked in ${result.seconds < 0.1 ? result.seconds.toFixed(3) : result.seconds.toFixed(1)} s`;
    const saves = element("p", { class: "saves" }, "Save: ",
      result.svg === null ? null : save("counterexample.svg", "image/svg+xml", result.svg),
      result.jepsen === null ? null : save("history.jsonl", "application/x-ndjson", result.jepsen),
      save("answer.json", "application/json", JSON.stringify(result.json, null, 1)),
      result.certificate === undefined ? null : save("certificate.json", "application/json", result.certificate));
    $("answer").replaceChildren(
      element("div", { class: `verdict ${verdict}` }, element("h2", { id: "headline" }, words), element("p", { class: "facts" }, facts)),
      ...violations(result),
      ladder(result),
      element("p", { class: "note", id: "opinion" }, secondOpinion(result)),
      saves);
    $("state").textContent = `${words}. `;
    $("state").classList.add("hidden");
    document.dispatchEvent(new CustomEvent("answered"));
  }

  // ---- begin

  startWorker();
  $("gallery").value = "lost-update";
  pick("lost-update");
})();
