// Workload URL HISTORY ISOLATION: four JDBC connections to PostgreSQL, recorded.
//
// In the first round all read key 0 before any of them writes it. Below snapshot isolation this loses
// an update. `Workload script HISTORY` records operations of every kind, without a database.
// `Workload refused HISTORY MISTAKE` makes a mistake, goes on, and says how the recording ended.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class Workload {
  private static final int CLIENTS = 4, ROUNDS = 40, KEYS = 3;

  private static void script(String path) throws Exception {
    Recorder recorder = new Recorder(path, 0, Map.of("database", "none"));
    recorder.initial("list", List.of());
    Recorder.Session a = recorder.session(), b = recorder.session();
    a.begin();
    a.read("x", 0);
    a.write("x", recorder.uniqueId());
    a.append("list", 1);
    a.committed();
    b.on("n1");
    b.begin();
    b.read("list", List.of(1));
    b.insert("y \"\\\n\u00e9", null);
    b.delete(2);
    b.readRange(1, 9, List.of(List.of(3, "three"), Arrays.asList(4, null)));
    b.committing();
    b.aborted("serialization failure");
    a.begin();
    a.read("x", null);
    a.compareAndSet("x", 1, 2, true);
    a.committing();
    a.read("x", 1);
    a.compareAndSet("x", 1, 2, false);
    a.indeterminate("time-out");
    a.begin();
    a.begin();
    a.committed();
    recorder.close();
  }

  private static void refused(String path, String mistake) throws Exception {
    Recorder recorder = new Recorder(path, null, Map.of());
    Recorder.Session a = recorder.session(), b = recorder.session();
    a.begin();
    a.write("x", 1);
    a.committed();
    boolean thrown = false;
    try {
      if (mistake.equals("value") || mistake.equals("rows")) a.begin();
      if (mistake.equals("initial")) recorder.initial("y", 1.5);
      else if (mistake.equals("rows")) a.readRange(1, 2, List.of(List.of(1, 1.5)));
      else a.write("x", 1.5);
    } catch (IllegalArgumentException | IllegalStateException expected) {
      thrown = true;
    }
    if (!thrown) throw new AssertionError("nothing was thrown");
    a.committed();
    b.begin();
    b.write("z", 3);
    b.committed();
    try {
      recorder.close();
    } catch (java.io.IOException expected) {
      System.out.println(expected.getCause().getMessage());
      return;
    }
    throw new AssertionError("close() threw nothing");
  }

  private interface Pause { void run() throws Exception; }

  private static void transaction(Connection connection, Recorder.Session session, Recorder recorder,
                                  String isolation, int reads, int writes, Pause between)
      throws Exception {
    session.begin();
    try (Statement statement = connection.createStatement()) {
      statement.execute("BEGIN ISOLATION LEVEL " + isolation);
      try (ResultSet row = statement.executeQuery("SELECT v FROM recorded WHERE k = " + reads)) {
        row.next();
        session.read(reads, row.getLong(1));
      }
      between.run();
      long value = recorder.uniqueId();
      session.write(writes, value);
      statement.execute("UPDATE recorded SET v = " + value + " WHERE k = " + writes);
      session.committing();
      statement.execute("COMMIT");
      session.committed();
    } catch (SQLException error) {
      if (error.getSQLState() == null || error.getSQLState().startsWith("08")) {
        session.indeterminate(error.getMessage());
        throw error;
      }
      try (Statement statement = connection.createStatement()) { statement.execute("ROLLBACK"); }
      session.aborted(error.getSQLState());
    }
  }

  private static Void client(int number, String url, Recorder recorder, String isolation,
                             CyclicBarrier barrier) throws Exception {
    try (Connection connection = DriverManager.getConnection(url)) {
      Recorder.Session session = recorder.session();
      Random choose = new Random(number);
      transaction(connection, session, recorder, isolation, 0, 0, barrier::await);
      for (int i = 1; i < ROUNDS; ++i)
        transaction(connection, session, recorder, isolation, choose.nextInt(KEYS),
                    choose.nextInt(KEYS), () -> {});
    }
    return null;
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("script")) {
      script(arguments[1]);
      return;
    }
    if (arguments[0].equals("refused")) {
      refused(arguments[1], arguments[2]);
      return;
    }
    String url = arguments[0], isolation = arguments[2];
    try (Connection setup = DriverManager.getConnection(url);
         Statement statement = setup.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS recorded");
      statement.execute("CREATE TABLE recorded (k int PRIMARY KEY, v bigint)");
      statement.execute("INSERT INTO recorded SELECT k, 0 FROM generate_series(0, " + (KEYS - 1) + ") k");
    }
    Recorder recorder =
        new Recorder(arguments[1], 0, Map.of("database", "PostgreSQL", "isolation", isolation));
    CyclicBarrier barrier = new CyclicBarrier(CLIENTS);
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<Callable<Void>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; ++i) {
      int number = i;
      clients.add(() -> client(number, url, recorder, isolation, barrier));
    }
    List<Future<Void>> done = threads.invokeAll(clients);
    threads.shutdown();
    for (Future<Void> one : done) one.get();
    recorder.close();
  }
}
