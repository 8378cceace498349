"""Every field of a history, and the name of its file, with every dangerous text, to every output.

No output has a character that commands a terminal, a line that is no line of cupel's, markup that is none
of cupel's, or a command of GitHub's. The pages stay in WORK/outputs/pages, for tests/browser/hostile_test.mjs."""

import html.parser
import itertools
import json
import re
import shutil
import xml.etree.ElementTree as ElementTree

PLAIN = "plain"
CONTROLS = "".join(map(chr, itertools.chain(range(1, 32), range(127, 160))))
DANGEROUS = {
    "controls": CONTROLS,
    "nul": "a\0b",
    "terminal": "\x1b[2J\x1b]0;title\x07\x1b[32msatisfied\x1b[0m\x9b31m\u009d0;t\u009c\r\x08\x08",
    "lines": "a\nb\tserializable\tsatisfied\r\nc\u2028d\u2029e\x0bf\x0cg\x85h",
    "directions": "\u202eevil\u202c \u2066x\u2069 \u200f\u061c\ufeff\ufffe\uffff",
    "script": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "attribute": "\" onmouseover=alert(1) x=\"' onload='alert(1)' ><svg onload=alert(1)>",
    "comment": "--><!-- <![CDATA[ ]]> <?xml ?> &lt; &amp;amp; &#x3c;script&#x3e;",
    "markdown": "`a``b``` |x| **b** _i_ [x](javascript:alert(1)) ![i](https://example.org/i) @someone #1 $m$ ~~s~~",
    "github": "::error file=x,title=OK::done %0A::set-output name=a::b ##[error]bad ##vso[task.complete]",
    "sql": "'; drop table t; -- \\'; \\! sh /* */ $$",
    "json": '","x":{"y":"\\u0000{0}{{',
    "url": "javascript:alert(1)//?a=b&c=d#e%00%0d%0a../../etc/passwd",
    "long": "x" * 100_000,
}
SAFE_ID = re.compile(r"[^a-z]")


class Elements(html.parser.HTMLParser):
    """The tags of a page and the names of their attributes; what only a script of a history could add."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.scripts = 0
        self.strange = []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        names = [name for name, _ in attrs]
        if tag in ("img", "iframe", "object", "embed", "base", "link") or any(name.startswith("on") for name in names):
            self.strange.append((tag, names))
        for name, value in attrs:
            if name in ("href", "src", "xlink:href", "action") and value and not value.startswith(("#", "report")):
                self.strange.append((tag, [f"{name}={value[:80]}"]))


def history(field, text):
    """A lost update and a lost write, with the text in one field: JSON lines."""
    put = lambda name, usual: text if field == name else usual
    facts = [["database", put("database", "PostgreSQL 15")], ["isolation", put("isolation", "repeatable read")],
             ["settings", put("settings", "a=b")], ["workload", put("workload", "mini")],
             ["final readers", f"8 {put('node', 'h:1')}\n9 h:2"], ["nodes", f"0 {put('nodes', 'h:1')}\n1 h:2"],
             [put("fact", "seed"), put("fact", "1")]]
    lines = [{"type": "info", "process": "nemesis", "f": "cupel.metadata", "value": facts},
             {"type": "info", "process": "nemesis", "f": put("fault", "start-fault"), "value": put("fault", "kill: 0"),
              "time": 1000}]
    key, clock = put("key", "x"), itertools.count(2000, 1000)

    def add(process, operations, node):
        for kind in ("invoke", "ok"):
            one = {"type": kind, "process": process, "f": "txn", "value": operations, "time": next(clock),
                   "node": put("node", node)}
            for name in ("note", "statement", "error", "steps"):
                if field == name:
                    one[name] = text
            if field == "field name":
                one[text] = 1
            if field == "nested":
                one["more"] = {text: [text, {"a": text}]}
            lines.append(one)

    overlap = [{"type": "invoke", "process": p, "f": "txn", "value": [["r", key, None], ["w", key, v]], "time": 1500,
                "node": put("node", "h:1, primary")} for p, v in ((0, 1), (1, 2))]
    for (p, v), one in zip(((0, put("value", 1)), (1, 2)), overlap):
        one["value"][1][2] = v
        one["process"] = put("process", p) if p == 0 else p
        done = {**one, "type": "ok", "time": 1600}
        for name in ("note", "statement", "error", "steps"):
            if field == name:
                done[name] = text
        if field == "field name":
            done[text] = 1
        if field == "nested":
            done["more"] = {text: [text, {"a": text}]}
        lines += [one, done]
    lines.sort(key=lambda line: (line.get("time", 0), line["type"] == "ok"))
    add(3, [["w", "y", 5]], "h:1, primary")
    add(3, [["w", "y", 6]], "h:1, primary")
    add(8, [["r", "y", 5]], "h:1")
    add(9, [["r", "y", 5]], "h:2")
    return "\n".join(json.dumps({**line, "index": i}) for i, line in enumerate(lines)) + "\n"


FIELDS = ["key", "value", "process", "node", "nodes", "note", "statement", "error", "steps", "field name", "nested", "database",
          "isolation", "settings", "workload", "fact", "fault"]
COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


class Watch:
    def __init__(self, part):
        self.part = part

    def text(self, where, data, tabs=False):
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            self.part.fail(f"{where}: {error}")
            return ""
        found = COMMANDING.search(text)
        if found:
            self.part.fail(f"{where}: {found[0]!r} in {text[max(0, found.start() - 60):found.start() + 60]!r}")
        if "\t" in text and not tabs:
            self.part.fail(f"{where}: a tab in {text[:200]!r}")
        return text

    def log(self, where, data, annotations=False):
        for line in self.text(where, data, tabs=True).split("\n"):
            if "##[" in line or (line.lstrip().startswith("::") and not annotations):
                self.part.fail(f"{where}: a command of GitHub's: {line[:200]!r}")
            if annotations and line.startswith("::") and not re.fullmatch(
                    r"::(error|warning) file=[^:,\s][^:,]*(,line=\d+)?,title=[^:,]*::.*", line):
                self.part.fail(f"{where}: another annotation: {line[:300]!r}")

    def lines(self, where, data):
        for line in self.text(where, data, tabs=True).rstrip("\n").split("\n"):
            if not line.startswith("  ") and not re.fullmatch(r"[^\t]*\t[a-z-]+\t(satisfied|violated|unknown)", line):
                self.part.fail(f"{where}: another line: {line[:200]!r}")

    def json(self, where, data):
        try:
            return json.loads(self.text(where, data, tabs=False))
        except json.JSONDecodeError as error:
            self.part.fail(f"{where}: {error}")
            return None

    def xml(self, where, path):
        try:
            for element in ElementTree.parse(path).iter():
                tag = element.tag.split("}")[-1]
                if tag in ("script", "image", "foreignObject", "use", "a") or any(
                        name.split("}")[-1].startswith("on") for name in element.attrib):
                    self.part.fail(f"{where}: the element {tag} {element.attrib}")
        except ElementTree.ParseError as error:
            self.part.fail(f"{where}: {error}")

    def markdown(self, where, path):
        text = self.text(where, path.read_bytes())
        bare = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.S | re.M)
        bare = re.sub(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", bare)
        for bad in re.finditer(r"<(?!/?(details|summary|b)>|!-- -->)|(?<!\\)\]\(|(?<![\w\\])@\w", bare):
            self.part.fail(f"{where}: {bare[max(0, bad.start() - 60):bad.start() + 60]!r}")

    def page(self, where, path):
        elements = Elements()
        text = self.text(where, path.read_bytes(), tabs=True)
        elements.feed(text)
        if elements.scripts != 2 or elements.strange:
            self.part.fail(f"{where}: {elements.scripts} scripts, {elements.strange[:3]}")


def one(part, watch, field, name, text, pages):
    where = f"{field} {name}"
    short = f"{SAFE_ID.sub('', field)}-{name}"
    file = f"{short}.jsonl"
    if field == "file name":
        file = re.sub(r"[/\0]", "_", text)[:60] + ".jsonl"
    try:
        part.file(file, history(field, text))
    except (OSError, UnicodeEncodeError):
        return  # the system has no such name
    log = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "", "NO_COLOR": ""}
    check = ["check", "--shrink-time", "1"]
    ran = part.run([*check, "--", file], env=log)
    if ran is None:
        return
    watch.log(f"{where}, text", ran.stdout)
    watch.log(f"{where}, errors", ran.stderr)
    if ran.returncode == 3:
        if field in ("node", "note", "statement", "field name", "file name", "nested"):
            part.fail(f"{where}: not read: {ran.errors[:300]}")
        return
    ran = part.run([*check, "-l", "snapshot-isolation,causal", "--", file])
    watch.lines(f"{where}, lines", ran.stdout)
    watch.json(f"{where}, --json", part.run([*check, "--json", "--", file], env=log).stdout)
    emitted = part.work / "emitted"
    shutil.rmtree(emitted, ignore_errors=True)
    emitted.mkdir()
    page = pages / short
    ran = part.run([*check, "--report", page, "--emit",
                    "markdown=emitted/m.md,sql=emitted/s.sql,junit=emitted/j.xml,sarif=emitted/a.json,github=emitted/g.md",
                    "--", file], env=log)
    watch.log(f"{where}, annotations", ran.stderr, annotations=True)
    watch.markdown(f"{where}, Markdown", emitted / "m.md")
    watch.markdown(f"{where}, GitHub's summary", emitted / "g.md")
    watch.text(f"{where}, SQL", (emitted / "s.sql").read_bytes())
    watch.xml(f"{where}, JUnit", emitted / "j.xml")
    watch.text(f"{where}, JUnit", (emitted / "j.xml").read_bytes())
    watch.json(f"{where}, SARIF", (emitted / "a.json").read_bytes().replace(b"\n", b""))
    watch.page(f"{where}, page", page / "index.html")
    for picture in page.glob("*.svg"):
        watch.xml(f"{where}, {picture.name}", picture)
        watch.text(f"{where}, {picture.name}", picture.read_bytes())
    for picture in page.glob("*.dot"):
        watch.text(f"{where}, {picture.name}", picture.read_bytes())
    for kind in ("markdown", "github", "sql"):
        ran = part.run([*check, "--emit", kind, "--", file], env=log)
        watch.log(f"{where}, {kind} on standard output", ran.stdout)
    watch.log(f"{where}, stats", part.run(["stats", "--", file], env=log).stdout)
    watch.json(f"{where}, stats --json", part.run(["stats", "--json", "--", file], env=log).stdout)
    ran = part.run(["check", "--shrink-time", "0", "--certificate", "proof.json", "--", file])
    if (part.work / "proof.json").exists():
        ran = part.run(["verify", "--", file, "proof.json"], env=log)
        watch.log(f"{where}, verify", ran.stdout + ran.stderr)
    for target in ("t.edn", "t.cupel"):
        part.must(["convert", "--", file, target])
        ran = part.run([*check, "--", target], env=log)
        watch.log(f"{where}, text of {target}", ran.stdout + ran.stderr)


def broken_files(part, watch):
    """Formats that are not read: their errors show a piece of them."""
    for name, text in DANGEROUS.items():
        if part.time_left() < 0:
            return
        raw = text[:200].encode("utf-8", "surrogatepass") + b"\x9b\xff\x1b[2J"
        for ending, around in (("jsonl", b'{"type":"ok","process":0,"f":%s,"value":[]}'), ("edn", b"{:type :ok :f %s}"),
                               ("plume", b"r(%s,1,0,0)"), ("awdit", b"r %s 1"), ("log", b"%s"), ("gz", b"\x1f\x8b\x08%s")):
            path = part.work / f"broken.{ending}"
            path.write_bytes(around % raw)
            for arguments in (["check", path.name], ["crdt", "check", "--type", "or-set", path.name], ["stats", path.name],
                              ["verify", path.name, path.name], ["campaign", path.name, "-o", "c"]):
                ran = part.run(arguments, env={"GITHUB_ACTIONS": "true"})
                if ran is not None:
                    watch.log(f"{name} in a broken {ending}: {arguments[0]}", ran.stdout + ran.stderr)


def torture(part):
    watch = Watch(part)
    pages = part.work / "pages"
    pages.mkdir()
    broken_files(part, watch)
    cases = [(field, name) for field in [*FIELDS, "file name"] for name in DANGEROUS]
    part.random.shuffle(cases)
    done = 0
    for field, name in cases:
        if part.time_left() < 0:
            break
        one(part, watch, field, name, DANGEROUS[name], pages)
        done += 1
    part.note(f"{done} of {len(cases)} pairs of a field and a text, to 20 outputs each")
