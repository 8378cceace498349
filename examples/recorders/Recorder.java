// Recorder.java: record what your own application saw, as a history that `cupel check` reads.
//
// Copy this file; it needs Java 11 and nothing else. Call it from the data layer, once for each
// transaction begun, each value read or written, and each outcome:
//
//   Recorder recorder = new Recorder("history.jsonl", 0, Map.of());  // every key holds 0 at first
//   Recorder.Session session = recorder.session();                   // one for each connection
//   session.begin();
//   session.read("account:7", 100);                                  // what the database returned
//   session.write("account:7", recorder.uniqueId());
//   session.committing();                                            // just before COMMIT is sent
//   session.committed();                                             // it was acknowledged
//   recorder.close();
//
// Write values that are unique for each key: then every read shows which transaction it saw. Say
// committed() only if the database acknowledged the commit, and aborted() only if it certainly did
// not commit. Everything else (time-out, lost connection) is indeterminate().
//
// Keys and values are Byte, Short, Integer, Long, BigInteger, String, Boolean, null, or Lists of
// them. Times are monotonic, in nanoseconds. Any thread may use a recorder; a session is for one
// thread at a time. Each line is written when it is known, so a crash of the program loses nothing.
// If the file cannot be written, close() throws; the application itself is not disturbed. A call that
// throws recorded nothing: the file ends there, because no verdict about the rest holds, and close()
// throws, too.
import java.io.FileOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

public final class Recorder implements AutoCloseable {
  private final FileOutputStream file;
  private final long start = System.nanoTime();
  private final String initial;
  private long lines, ids, processes;
  private boolean closed;
  private IOException error;

  // `initial`: what every key holds at first; null: nothing. `metadata`, for example
  // Map.of("database", "PostgreSQL", "isolation", "repeatable read").
  public Recorder(String path, Object initial, Map<String, String> metadata) throws IOException {
    this.initial = json(initial);
    file = new FileOutputStream(path);
    if (!metadata.isEmpty()) {
      StringBuilder pairs = new StringBuilder();
      metadata.forEach((name, value) -> pairs.append(pairs.length() == 0 ? "[" : ",")
                                             .append(json(Arrays.asList(name, value))));
      nemesis("cupel.metadata", pairs + "]");
    }
    if (initial != null) nemesis("cupel.initial", "[" + this.initial + ",[]]");
  }

  public Session session() { return new Session(); }

  // What one key holds before the recording. Before its first use.
  public void initial(Object key, Object value) {
    nemesis("cupel.initial", "[" + initial + ",[" + jsonOrEnd(Arrays.asList(key, value)) + "]]");
  }

  // No other write of this recorder has it; from 1.
  public synchronized long uniqueId() { return ++ids; }

  public long nowNs() { return System.nanoTime() - start; }

  // Throws what ended the recording, as when a line could not be written.
  @Override public synchronized void close() throws IOException {
    if (!closed) file.close();
    closed = true;
    if (error != null) throw error;
  }

  private synchronized long nextProcess() { return processes++; }

  private void nemesis(String f, String value) {
    write("{\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"" + f + "\",\"value\":" + value);
  }

  // `line`: without its index and closing brace.
  private synchronized void write(String line) {
    if (closed || error != null) return;
    try {
      file.write((line + ",\"index\":" + lines++ + "}\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException failed) {
      error = failed;
    }
  }

  private synchronized void end(RuntimeException refused) {
    if (error == null) error = new IOException("the recording ended at a call that threw", refused);
  }

  // Of what a caller gave.
  private String jsonOrEnd(Object value) {
    try {
      return json(value);
    } catch (RuntimeException refused) {
      end(refused);
      throw refused;
    }
  }

  private static String json(Object value) {
    StringBuilder text = new StringBuilder();
    append(text, value);
    return text.toString();
  }

  private static void append(StringBuilder text, Object value) {
    if (value == null || value instanceof Boolean || value instanceof Integer
        || value instanceof Long || value instanceof Short || value instanceof Byte
        || value instanceof BigInteger) {
      text.append(value);
    } else if (value instanceof String) {
      quote(text, (String) value);
    } else if (value instanceof List) {
      char before = '[';
      for (Object element : (List<?>) value) {
        append(text.append(before), element);
        before = ',';
      }
      text.append(before == '[' ? "[]" : "]");
    } else {
      throw new IllegalArgumentException("cannot record a " + value.getClass().getName()
          + ": expected an integer, a String, a Boolean, null or a List of them");
    }
  }

  private static void quote(StringBuilder text, String string) {
    text.append('"');
    for (int i = 0; i < string.length(); ++i) {
      char c = string.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }

  // What one connection saw. session() makes it.
  public final class Session {
    private long process = nextProcess();
    private String node;
    private boolean open, invoked, retold;
    private long begun;
    private StringBuilder asked, seen;

    private Session() {}

    // The server that the transactions from here on run on; explanations show it.
    public void on(String node) { this.node = node; }

    public void begin() {
      if (open) indeterminate("the next transaction began");
      open = true;
      invoked = retold = false;
      asked = new StringBuilder();
      seen = new StringBuilder();
      begun = nowNs();
    }

    // `value`: what the database returned; of a list, all its elements.
    public void read(Object key, Object value) {
      operation(Arrays.asList("r", key, null), Arrays.asList("r", key, value));
    }
    public void write(Object key, Object value) { both(Arrays.asList("w", key, value)); }
    public void insert(Object key, Object value) { both(Arrays.asList("insert", key, value)); }
    public void delete(Object key) { both(Arrays.asList("delete", key, null)); }
    public void append(Object key, Object element) { both(Arrays.asList("append", key, element)); }

    // `rows`: all (key, value) that the database returned, in its order.
    public void readRange(Object low, Object high, List<List<Object>> rows) {
      List<Object> bounds = Arrays.asList(low, high);
      operation(Arrays.asList("range", bounds, null), Arrays.asList("range", bounds, rows));
    }
    public void compareAndSet(Object key, Object expected, Object desired, boolean succeeded) {
      List<Object> values = Arrays.asList(expected, desired);
      List<Object> call = Arrays.asList("cas", key, values);
      operation(call, succeeded ? call : Arrays.asList("cas", key, values, false));
    }

    // If the program crashes after this, the transaction is indeterminate in the file.
    // A database may run a transaction in one piece. Then report its operations with reads of null,
    // call this, and report them again with what they returned.
    public void committing() {
      if (!open || invoked) return;
      invoked = true;
      line("invoke", asked, begun, null);
    }
    public void committed() { complete("ok", null); }
    public void aborted(String why) { complete("fail", why); }
    // The session goes on as a new process: the transaction may still be under way.
    public void indeterminate(String why) {
      if (!open) return;
      complete("info", why);
      process = nextProcess();
    }

    private void both(List<Object> call) { operation(call, call); }

    private void operation(List<Object> call, List<Object> result) {
      if (!open) {
        IllegalStateException outside =
            new IllegalStateException(call.get(0) + " outside of a transaction; call begin() first");
        end(outside);
        throw outside;
      }
      String asks = jsonOrEnd(call), sees = jsonOrEnd(result);
      if (invoked && !retold) {
        retold = true;
        seen = new StringBuilder();
      }
      if (!invoked) asked.append(asked.length() == 0 ? "" : ",").append(asks);
      seen.append(seen.length() == 0 ? "" : ",").append(sees);
    }

    private void complete(String type, String why) {
      if (!open) return;
      committing();
      line(type, seen, nowNs(), why);
      open = false;
    }

    private void line(String type, CharSequence operations, long time, String why) {
      Recorder.this.write("{\"type\":\"" + type + "\",\"process\":" + process
          + ",\"f\":\"txn\",\"value\":[" + operations + "],\"time\":" + time
          + (node == null ? "" : ",\"node\":" + json(node))
          + (why == null ? "" : ",\"error\":" + json(why)));
    }
  }
}
