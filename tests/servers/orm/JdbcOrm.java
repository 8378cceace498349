// JDBC: the steps, in PostgreSQL's driver. Each line is `ok NAME` or `failed NAME: WHY`, as of
// steps.py.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

class JdbcOrm {
  interface Step {
    void run() throws Exception;
  }

  static Connection connection;

  static void expect(Object seen, Object wanted) {
    if (!Objects.equals(seen, wanted)) throw new AssertionError("saw " + seen + ", not " + wanted);
  }

  static int run(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; ++i) statement.setObject(i + 1, values[i]);
      return statement.executeUpdate();
    }
  }

  static Object read(String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; ++i) statement.setObject(i + 1, values[i]);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? rows.getObject(1) : null;
      }
    }
  }

  static Object stock(String name) throws SQLException {
    return read("SELECT stock FROM item WHERE name = ?", name);
  }

  // The error of the server that the statement must have.
  static PSQLException refused(String sql) {
    try {
      run(sql);
    } catch (PSQLException error) {
      return error;
    } catch (SQLException error) {
      throw new AssertionError(error);
    }
    throw new AssertionError("no error: " + sql);
  }

  static void inTransaction(Step step, boolean commits) throws Exception {
    connection.setAutoCommit(false);
    try {
      step.run();
      if (commits) connection.commit();
    } finally {
      if (!commits) connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  static void connect() throws Exception {
    final String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT")
        + "/" + System.getenv("PGDATABASE");
    // From the second execution on, statements are prepared on the server.
    connection = DriverManager.getConnection(
        url + "?prepareThreshold=2&user=" + System.getenv("PGUSER"));
    expect(connection.isValid(5), true);
    try (ResultSet tables = connection.getMetaData().getTables(null, "public", "%", new String[] {"TABLE"})) {
      expect(tables.next(), false);
    }
  }

  static void migrate() throws Exception {
    inTransaction(() -> {
      run("CREATE TABLE item (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name varchar(50) NOT NULL"
          + " UNIQUE, stock int NOT NULL CONSTRAINT stock_left CHECK (stock >= 0))");
      run("CREATE TABLE orders (id bigserial PRIMARY KEY, item_id int NOT NULL REFERENCES item,"
          + " quantity int NOT NULL, placed timestamptz NOT NULL DEFAULT now())");
    }, true);
    inTransaction(() -> run("ALTER TABLE item ADD COLUMN note text"), false);
    final List<String> columns = new ArrayList<>();
    try (ResultSet found = connection.getMetaData().getColumns(null, null, "item", null)) {
      while (found.next()) columns.add(found.getString("COLUMN_NAME"));
    }
    expect(columns, List.of("id", "name", "stock"));
    try (ResultSet keys = connection.getMetaData().getImportedKeys(null, null, "orders")) {
      expect(keys.next() ? keys.getString("PKTABLE_NAME") : null, "item");
    }
  }

  static void create() throws Exception {
    final int pen;
    try (PreparedStatement insert = connection.prepareStatement(
             "INSERT INTO item (name, stock) VALUES ('pen', 10)", Statement.RETURN_GENERATED_KEYS)) {
      insert.executeUpdate();
      final ResultSet keys = insert.getGeneratedKeys();
      expect(keys.next(), true);
      pen = keys.getInt(1);
    }
    run("INSERT INTO orders (item_id, quantity) VALUES (?, ?)", pen, 2);
    try (PreparedStatement batch =
             connection.prepareStatement("INSERT INTO item (name, stock) VALUES (?, ?)")) {
      for (Object[] row : new Object[][] {{"ink", 5}, {"pad", 7}}) {
        batch.setObject(1, row[0]);
        batch.setObject(2, row[1]);
        batch.addBatch();
      }
      expect(batch.executeBatch().length, 2);
    }
    final var copied = connection.unwrap(PGConnection.class).getCopyAPI()
        .copyIn("COPY item (name, stock) FROM STDIN", new java.io.StringReader("cap\t1\n"));
    expect(copied, 1L);
    expect(run("DELETE FROM item WHERE name = 'cap'"), 1);
    expect(run("INSERT INTO item (name, stock) VALUES ('pen', 0) ON CONFLICT DO NOTHING"), 0);
  }

  static void query() throws Exception {
    // A cursor: three rows, two at a time.
    inTransaction(() -> {
      final List<String> names = new ArrayList<>();
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(2);
        final ResultSet rows = statement.executeQuery("SELECT name FROM item ORDER BY name");
        while (rows.next()) names.add(rows.getString(1));
      }
      expect(names, List.of("ink", "pad", "pen"));
    }, true);
    for (int i = 0; i < 5; ++i) expect(read("SELECT count(*) FROM item WHERE stock > ?", 5), 2L);
    expect(read("SELECT quantity FROM item JOIN orders ON item_id = item.id WHERE name = ?", "pen"), 2);
    expect(read("SELECT sum(stock) FROM item"), 22L);
  }

  static void update() throws Exception {
    expect(run("UPDATE item SET stock = ? WHERE name = ?", 7, "ink"), 1);
    try (Statement statement = connection.createStatement(
             ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
         ResultSet rows = statement.executeQuery("SELECT id, stock FROM item WHERE name = 'ink'")) {
      rows.next();
      rows.updateInt("stock", 6);
      rows.updateRow();
    }
    run("UPDATE item SET stock = stock - 1 WHERE name = 'ink'");
    expect(stock("ink"), 5);
  }

  static void rollback() throws Exception {
    inTransaction(() -> run("UPDATE item SET stock = 9 WHERE name = 'pen'"), true);
    inTransaction(() -> {
      run("UPDATE item SET stock = 1 WHERE name = 'pen'");
      expect(stock("pen"), 1);
    }, false);
    expect(stock("pen"), 9);
  }

  static void savepoint() throws Exception {
    inTransaction(() -> {
      run("UPDATE item SET stock = 6 WHERE name = 'pad'");
      final Savepoint mark = connection.setSavepoint("mark");
      run("UPDATE item SET stock = 1 WHERE name = 'pad'");
      refused("INSERT INTO item (name, stock) VALUES ('pen', 1)");
      connection.rollback(mark);
      expect(stock("pad"), 6);
    }, true);
    expect(stock("pad"), 6);
  }

  static void forUpdate() throws Exception {
    connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
    inTransaction(() -> {
      final int left = (Integer) read("SELECT stock FROM item WHERE name = 'pen' FOR UPDATE");
      run("UPDATE item SET stock = ? WHERE name = 'pen'", left - 1);
      expect(read("SELECT stock FROM item WHERE name = 'pad' FOR UPDATE SKIP LOCKED"), 6);
    }, true);
    expect(stock("pen"), 8);
  }

  static void constraints() throws Exception {
    final var unique = refused("INSERT INTO item (name, stock) VALUES ('pen', 1)");
    expect(unique.getSQLState(), "23505");
    expect(unique.getServerErrorMessage().getTable(), "item");
    expect(unique.getServerErrorMessage().getConstraint(), "item_name_key");
    final var negative = refused("INSERT INTO item (name, stock) VALUES ('cap', -1)");
    expect(negative.getServerErrorMessage().getConstraint(), "stock_left");
    expect(refused("INSERT INTO orders (item_id, quantity) VALUES (1000000, 1)").getSQLState(), "23503");
    expect(refused("INSERT INTO item (name) VALUES ('cap')").getServerErrorMessage().getColumn(), "stock");
  }

  static void delete() throws Exception {
    run("DELETE FROM orders");
    expect(run("DELETE FROM item WHERE name = 'pen'"), 1);
    expect(stock("pen"), null);
    run("TRUNCATE item, orders");
    expect(read("SELECT count(*) FROM item"), 0L);
  }

  public static void main(String[] arguments) throws Exception {
    final Map<String, Step> steps = new LinkedHashMap<>();
    steps.put("connect", JdbcOrm::connect);
    steps.put("migrate", JdbcOrm::migrate);
    steps.put("create", JdbcOrm::create);
    steps.put("query", JdbcOrm::query);
    steps.put("update", JdbcOrm::update);
    steps.put("rollback", JdbcOrm::rollback);
    steps.put("savepoint", JdbcOrm::savepoint);
    steps.put("for-update", JdbcOrm::forUpdate);
    steps.put("constraints", JdbcOrm::constraints);
    steps.put("delete", JdbcOrm::delete);
    System.out.println("version pgjdbc " + org.postgresql.util.DriverInfo.DRIVER_VERSION);
    int failed = 0;
    for (var step : steps.entrySet()) {
      try {
        step.getValue().run();
        System.out.println("ok " + step.getKey());
      } catch (Exception | AssertionError error) {
        ++failed;
        System.out.println("failed " + step.getKey() + ": " + String.valueOf(error).replaceAll("\\s+", " "));
        error.printStackTrace();
      }
    }
    System.exit(failed == 0 ? 0 : 1);
  }
}
