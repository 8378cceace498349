"""Random memory limits over generated histories of every shape.

Exit codes 0 to 3, no crash, and never a verdict that differs from the one without a limit."""

SHAPES = [
    ["--level", "serializable", "--sessions", "6", "--txns", "300", "--keys", "50"],
    ["--level", "causal", "--sessions", "8", "--txns", "300", "--keys", "40"],
    ["--level", "read-committed", "--sessions", "5", "--txns", "200", "--keys", "20"],
    ["--level", "snapshot-isolation", "--sessions", "5", "--txns", "100", "--keys", "10", "--duplicates", "0.3"],
    ["--level", "prefix", "--shape", "list-append", "--sessions", "5", "--txns", "200", "--keys", "20"],
    ["--level", "read-committed", "--shape", "range", "--sessions", "5", "--txns", "60", "--keys", "40"],
    ["--level", "strict-serializable", "--shape", "mini", "--sessions", "5", "--txns", "400", "--keys", "5"],
]
ENDINGS = ["jsonl", "edn", "cupel"]


def torture(part):
    histories = []
    for index, shape in enumerate(SHAPES):
        name = f"h{index}.{ENDINGS[index % len(ENDINGS)]}"
        made = part.run(["generate", *shape, "--seed", part.random.randrange(1000), "-o", name])
        if made is not None and made.returncode == 0:
            histories.append((name, part.verdicts(name, "--timeout", "60s")))
        else:
            part.fail(f"cannot generate {shape}: {made and made.errors}")
    tried = unknown = 0
    while part.time_left() > 0 and tried < 1000:
        name, usual = part.random.choice(histories)
        limit = int(2 ** part.random.uniform(20, 27))  # 1 to 128 MiB; the program itself takes 14
        options = ["--memory-limit", f"{limit // 1024}KiB", "--timeout", "60s"]
        if part.random.random() < 0.3:
            options.append("--test-power")
        if part.random.random() < 0.3:
            options += ["--threads", "2"]
        limited = part.verdicts(name, *options)
        tried += 1
        if limited is None:
            continue
        unknown += "unknown" in limited.values()
        for level, verdict in limited.items():
            if usual.get(level) not in (verdict, "unknown") and verdict != "unknown":
                part.fail(f"{name} with {options}: {level} is {verdict}, and {usual.get(level)} without a limit")
    part.note(f"{tried:,} limits, {unknown:,} of them met")
