// Which isolation levels a recorded database history satisfies, and why others are violated.

/** A key or a value. The integer 1 and the text "1" differ. */
export type Scalar = null | string | number | bigint;
export type Format = "jepsen" | "plume" | "awdit" | "dbcop" | "cobra" | "viper" | "cupel" | "knossos";
export type Verdict = "satisfied" | "violated" | "unknown" | "refused";

/** Why a call failed, in a sentence. */
export class CupelError extends Error {}

/** The open transaction of a History; its functions return it, to chain. */
export interface Transaction {
  read(key: Scalar, value: Scalar): Transaction;
  write(key: Scalar, value: Scalar): Transaction;
  erase(key: Scalar): Transaction;
  compareAndSet(key: Scalar, expected: Scalar, desired: Scalar, succeeded: boolean): Transaction;
  append(key: Scalar, element: Scalar): Transaction;
  readList(key: Scalar, elements: Iterable<Scalar>): Transaction;
  /** How explanations call it: T7 for 7. */
  label(label: number): Transaction;
  times(invokedNs: number | bigint, completedNs: number | bigint): Transaction;
  /** It certainly had no effect. */
  aborted(): Transaction;
  /** It may have committed or not. */
  indeterminate(): Transaction;
}

/** What the clients of a database saw. */
export class History {
  constructor();
  /** Begins the next transaction of a session; the one before it ends here. */
  transaction(session: string): Transaction;
  /** What every key holds at first. Default: null. */
  initial(value: Scalar): this;
  initialOf(key: Scalar, value: Scalar): this;
  readonly transactionCount: number;
  /** How the operations were read: "registers with compare-and-set, 3 keys". */
  readonly kind: string;
  readonly sessionCount: number;
  readonly operationCount: number;
  /** The bytes of a file of the format; default "jepsen". */
  bytes(format?: "jepsen" | "plume" | "awdit" | "dbcop" | "cupel"): Uint8Array;
  /** Gives its memory back now and not some time after the last use. */
  free(): void;
}

export interface Anomaly {
  /** "lost-update" */
  name: string;
  /** Several lines: what happened, who took part, the cycle. */
  explanation: string;
}

export interface Level {
  /** "snapshot-isolation" */
  name: string;
  verdict: Verdict;
  /** A sentence for "unknown" and "refused". */
  detail: string;
  /** Of "violated": at least one. */
  anomalies: Anomaly[];
}

/** What was found about a history. As a string, it says what `cupel check` prints. */
export class Answer {
  private constructor();
  levels: Level[];
  /** By any of its names, such as "si". */
  level(name: string): Level;
  /** Whether a recorded run kept the writes that it acknowledged, as `cupel check` judges it for its exit code. */
  durable: Verdict;
  /** A sentence for "violated" and "unknown". */
  durableDetail: string;
  /** Every level that was asked for is satisfied, and `durable` is. */
  readonly satisfied: boolean;
  readonly violated: Level[];
  /** The object of `cupel check --json`. */
  readonly json: any;
  /** The first violation as a picture. */
  svg(): string;
  /** The evidence, if the check kept it: for verify() and `cupel verify`. */
  certificate(): string;
  toString(): string;
  free(): void;
}

export interface CheckOptions {
  /** Without them: all. */
  levels?: string | string[];
  /** Seconds, for all levels together; 0: no limit. */
  timeout?: number;
  /** How far wrong the clients' clocks may be. */
  clockDriftNs?: number | bigint;
  /** How long a violation may be made smaller before it is explained; -1: as long as the check took. */
  shrinkSeconds?: number;
  /** Count each anomaly in the whole history. */
  historyAnalysis?: boolean;
  /** Keep the evidence for Answer.certificate(). */
  evidence?: boolean;
}

/** Decides the levels. */
export function check(history: History, options?: CheckOptions): Answer;

export interface Verification {
  history: string;
  certificate: string;
  valid: boolean;
  /** If not valid: which step is wrong. */
  reason: string | null;
  clock_drift_ns: number;
  answers: { level: string; verdict: "satisfied" | "violated"; proof: number; proven_by: string; proven_for: string }[];
}

/** Checks a certificate against the history with code that shares nothing with check(). */
export function verify(history: History, certificate: string, options?: { clockDriftNs?: number | bigint }): Verification;

export interface ReadOptions {
  /** What op maps record. Default: what their f and their values say. */
  kind?: "transactions" | "registers" | "mutex" | "strings";
  /** Leaves out the op maps with these f. */
  ignore?: string | Iterable<string>;
}

/** A history file, or a folder for the formats that use one; the format is recognised by content. */
export function read(file: string, format?: Format, options?: ReadOptions): History;
/** A history as text or bytes, in any format of a single file or in the short notation (short.mjs). */
export function parse(content: string | Uint8Array, options?: ReadOptions & { name?: string; format?: Format | "short" }): History;
/** Writes a history file; default "jepsen". */
export function write(history: History, file: string, format?: "jepsen" | "plume" | "awdit" | "dbcop" | "cupel"): void;

/** A page about a level or an anomaly, by any of its names. */
export function describe(name: string): string;
/** "0.2.0" */
export const version: string;
