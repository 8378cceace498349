// The checks of the playground, on a thread of their own. core.mjs and cupel.mjs come before this in
// the same script. Messages in: {start: bytes of cupel.wasm}, {id, name, content, level, seconds}.
// Out: {ready: version}, {id, result} or {id, problem}.
let core;

function run({ name, content, level, seconds }) {
  const begin = performance.now();
  const history = core.parse(content, { name });
  const answer = core.check(history, {
    levels: level || undefined, timeout: seconds, historyAnalysis: true, evidence: true, shrinkSeconds: -1,
  });
  const result = {
    levels: answer.levels,
    json: answer.json,
    text: answer.toString(),
    seconds: (performance.now() - begin) / 1000,
    transactions: history.transactionCount,
    sessions: history.sessionCount,
    operations: history.operationCount,
    svg: null,
    pages: {},
  };
  const names = new Set(answer.levels.flatMap((one) => one.anomalies.map((anomaly) => anomaly.name)));
  for (const one of names) {
    try {
      result.pages[one] = core.describe(one);
    } catch { /* a name without a page is shown without */ }
  }
  try {
    result.svg = answer.svg();
  } catch { /* nothing is violated */ }
  // The second opinion, by code that shares nothing with the check.
  try {
    result.certificate = answer.certificate();
    result.verified = core.verify(history, result.certificate);
  } catch (error) {
    result.unverified = error.message;
  }
  result.jepsen = history.operationCount <= 100_000 ? history.bytes("jepsen") : null;
  answer.free();
  history.free();
  return result;
}

onmessage = async ({ data }) => {
  if (data.start !== undefined) {
    try {
      core = bind(await cupel({ wasmBinary: data.start }));
      // Of no transaction at all, every level is decided.
      const nothing = core.check(new core.History());
      postMessage({ ready: core.version, levels: nothing.levels.map((one) => one.name) });
    } catch (error) {
      postMessage({ broken: String(error) });
    }
    return;
  }
  try {
    postMessage({ id: data.id, result: run(data) });
  } catch (error) {
    // What is no error of cupel leaves the core in an unknown state.
    postMessage({ id: data.id, problem: error.message, fatal: !(error instanceof core.CupelError || error instanceof TypeError) });
  }
};
