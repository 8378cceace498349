// The short notation, in which a history is typed:
//
//   s1: w(x,1) | s2: r(x,1) w(x,2) ; r(y,nil)
//
// Sessions are separated by | or by lines, transactions by ;. A session may have a name (default:
// s1, s2 … by place; a name that comes again continues its session).
//
//   r(x,1)  r(x,nil)           read
//   w(x,1)  d(x)               write, delete
//   cas(x,1,2)  cas!(x,1,2)    compare-and-set that succeeded, that failed
//   a(x,1)  l(x,[1 2])         append to a list, read a list
//   ()                         no operation
//
// Before its operations a transaction may have ! (aborted) or ? (indeterminate), after them @10-20, its
// begin and end in nanoseconds. init=0 at the start is the value that every key holds at first, else nil.
// After # a line is a comment. The tests of cupel in C++ have the same notation with more operations.

const OPERATIONS = "r, w, d, cas, cas!, a or l";

// Is the first operation one of this notation? Plume's `r(1,2,3,4)` is not.
export function looksShort(text) {
  const bare = text.replace(/#[^\n]*/g, "");
  return /^\s*(init=\S+\s+)?([|\n]\s*)*(\w+[ \t]*:)?[\s]*[!?]?[ \t]*(\(\)|[rwa]\([^(),]*,[^(),]*\)|d\([^(),]*\)|cas!?\(|l\([^(),]*,\s*\[)/.test(bare)
    || /^\s*(init=\S+\s+)?\w+[ \t]*:[ \t]*[!?]?[ \t]*\w+!?\(/.test(bare);
}

// Builds it on newHistory(). On a mistake it calls fail({line, column}, message), which throws.
export function parseShort(text, newHistory, fail) {
  let at = 0;
  const place = () => {
    const before = text.slice(0, at).split("\n");
    return { line: before.length, column: [...before[before.length - 1]].length + 1 };
  };
  const found = () => {
    if (at >= text.length) return "the end";
    return text[at] === "\n" ? "the end of the line" : `\`${text.slice(at).match(/^(\w+|.)/su)[0]}\``;
  };
  const expected = (what) => fail(place(), `found ${found()}, expected ${what}`);
  const blanks = () => {
    at += text.slice(at).match(/^([ \t\r]|#[^\n]*)*/)[0].length;
  };
  const peek = () => (blanks(), text[at]);
  const accept = (token) => {
    blanks();
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  const expect = (token) => accept(token) || expected(`\`${token}\``);
  const match = (pattern) => {
    blanks();
    const word = text.slice(at).match(pattern)?.[0];
    if (word !== undefined) at += word.length;
    return word;
  };
  const integer = () => {
    const digits = match(/^-?\d+/) ?? expected("a number");
    const number = BigInt(digits);
    if (BigInt.asIntN(64, number) !== number) {
      at -= digits.length;
      fail(place(), `found ${digits}, expected a number of at most 64 bits`);
    }
    return number;
  };
  const atom = () => {
    if (peek() !== undefined && /[-\d]/.test(text[at])) return integer();
    if (peek() === "?" || peek() === ":") expected("a number, a word or nil: this notation has no unknown values and no keywords");
    const word = match(/^[\p{L}\p{N}_]+/u) ?? expected("a number, a word or nil");
    return word === "nil" || word === "null" ? null : word;
  };
  const list = () => {
    const elements = [];
    expect("[");
    while (!accept("]")) {
      elements.push(atom());
      accept(",");
    }
    return elements;
  };

  const operation = (to) => {
    blanks();
    const begin = at;
    const name = match(/^(cas!|\w+)/) ?? expected(`an operation: ${OPERATIONS}`);
    if (!["r", "w", "d", "a", "l", "cas", "cas!"].includes(name)) {
      at = begin;
      expected(`an operation: ${OPERATIONS}`);
    }
    expect("(");
    const key = atom();
    if (name !== "d") expect(",");
    if (name === "r") to.read(key, atom());
    else if (name === "w") to.write(key, atom());
    else if (name === "d") to.erase(key);
    else if (name === "a") to.append(key, atom());
    else if (name === "l") to.readList(key, list());
    else {
      const before = atom();
      expect(",");
      to.compareAndSet(key, before, atom(), name === "cas");
    }
    expect(")");
  };

  const history = newHistory();
  const transaction = (session) => {
    const to = history.transaction(session);
    if (accept("!")) to.aborted();
    else if (accept("?")) to.indeterminate();
    if (!accept("()")) {
      do operation(to);
      while (/[a-z]/i.test(peek() ?? ""));
    }
    if (!accept("@")) return;
    const begin = integer();
    expect("-");
    if (/\d/.test(peek() ?? "") || peek() === "-") to.times(begin, integer());
    else expected("the time of the end");
  };

  at += text.match(/^(\s|#[^\n]*)*/)[0].length;
  if (accept("init=")) history.initial(atom());
  for (let number = 1; ; number += 1) {
    while (peek() === "|" || peek() === "\n") at += 1;
    if (peek() === undefined) return history;
    const named = text.slice(at).match(/^([\p{L}\p{N}_]+)[ \t]*:/u);
    if (named !== null) at += named[0].length;
    const session = named === null ? `s${number}` : named[1];
    const ends = () => ["|", "\n", undefined].includes(peek());
    if (ends()) continue;
    do transaction(session);
    while (accept(";"));
    if (!ends()) expected("an operation, `;`, `|` or the end of the line");
  }
}
