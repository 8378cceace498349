// Any database with a JDBC driver, for `cupel run --db 'exec:java -cp CLASSES ExecJdbc URL [USER PASSWORD]'`;
// docs/reference/drivers/exec-clients.md has the commands for H2, HSQLDB and Derby.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public class ExecJdbc {
    // 6 is H2's own Constants.TRANSACTION_SNAPSHOT.
    static final Map<String, Integer> LEVELS = Map.of("read-uncommitted", 1, "read-committed", 2,
            "repeatable-read", 4, "snapshot", 6, "serializable", 8);

    final Connection connection;
    final Statement sql;
    final String table;

    ExecJdbc(Connection connection, String table, String isolation) throws SQLException {
        this.connection = connection;
        this.table = table;
        if (!isolation.equals("unspecified")) {
            if (!LEVELS.containsKey(isolation)) throw new SQLException("isolation: one of " + LEVELS.keySet());
            connection.setTransactionIsolation(LEVELS.get(isolation));
        }
        connection.setAutoCommit(false);
        sql = connection.createStatement();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1 && arguments.length != 3) {
            System.err.println("usage: ExecJdbc JDBC-URL [USER PASSWORD]");
            System.exit(2);
        }
        Map<String, String> env = System.getenv();
        String name = env.getOrDefault("CUPEL_TABLE", "");
        String session = env.getOrDefault("CUPEL_SESSION", "");
        Connection connection = arguments.length == 1 ? DriverManager.getConnection(arguments[0])
                : DriverManager.getConnection(arguments[0], arguments[1], arguments[2]);
        ExecJdbc client = new ExecJdbc(connection, name.isEmpty() ? "kv" : name,
                env.getOrDefault("CUPEL_ISOLATION", "unspecified"));
        if (session.equals("setup") || session.equals("clean")) client.recreate(session.equals("setup"));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(client.answer(line));
            System.out.flush();
        }
        connection.close();
    }

    // The column v holds the JSON text of a value, so an append edits that text in the database.
    void recreate(boolean create) throws SQLException {
        try {
            sql.executeUpdate("DROP TABLE " + table);
            connection.commit();
        } catch (SQLException absent) {
            connection.rollback();
        }
        if (!create) return;
        sql.executeUpdate("CREATE TABLE " + table + " (k INTEGER NOT NULL PRIMARY KEY, v VARCHAR(30000))");
        connection.commit();
    }

    // Without a COMMIT nothing is committed. An error of COMMIT is certain if its SQLSTATE says that the
    // transaction was rolled back (class 40) or violates a constraint (23).
    String answer(String line) throws SQLException {
        List<?> operations = (List<?>) new Json(line.substring(line.indexOf('['))).value();
        if (operations.isEmpty()) return about();
        List<String> done = new ArrayList<>();
        try {
            for (Object operation : operations) done.add(apply((List<?>) operation));
        } catch (SQLException error) {
            undo();
            return failure("fail", error);
        }
        try {
            connection.commit();
            return "{\"type\":\"ok\",\"value\":[" + String.join(",", done) + "]}";
        } catch (SQLException error) {
            String state = error.getSQLState() == null ? "" : error.getSQLState();
            undo();
            return failure(state.matches("(40|23)...") ? "fail" : "info", error);
        }
    }

    // A connection that cannot roll back is closed: the next transaction needs a new client.
    void undo() throws SQLException {
        try {
            connection.rollback();
        } catch (SQLException broken) {
            connection.close();
        }
    }

    String apply(List<?> operation) throws SQLException {
        String action = (String) operation.get(0);
        Object key = operation.get(1), value = operation.get(2);
        switch (action) {
            case "r":
                return text(action, key, read(key));
            case "range":
                List<?> bounds = (List<?>) key;
                return text(action, key, range(bounds.get(0), bounds.get(1)));
            case "w":
                write(key, "'" + value + "'", value);
                break;
            case "append":
                write(key, "SUBSTR(v, 1, LENGTH(v) - 1) || '," + value + "]'", "[" + value + "]");
                break;
            case "insert":
                sql.executeUpdate("INSERT INTO " + table + " VALUES (" + key + ", '" + value + "')");
                break;
            case "delete":
                sql.executeUpdate("DELETE FROM " + table + " WHERE k = " + key);
                break;
            default:
                throw new SQLException("statement refused: operation " + action);
        }
        return text(action, key, value);
    }

    void write(Object key, String update, Object insert) throws SQLException {
        if (sql.executeUpdate("UPDATE " + table + " SET v = " + update + " WHERE k = " + key) == 0)
            sql.executeUpdate("INSERT INTO " + table + " VALUES (" + key + ", '" + insert + "')");
    }

    String read(Object key) throws SQLException {
        try (ResultSet rows = sql.executeQuery("SELECT v FROM " + table + " WHERE k = " + key)) {
            return rows.next() ? rows.getString(1) : null;
        }
    }

    String range(Object low, Object high) throws SQLException {
        List<String> found = new ArrayList<>();
        try (ResultSet rows = sql.executeQuery("SELECT k, v FROM " + table + " WHERE k BETWEEN " + low
                + " AND " + high + " ORDER BY k")) {
            while (rows.next()) found.add("[" + rows.getString(1) + "," + rows.getString(2) + "]");
        }
        return "[" + String.join(",", found) + "]";
    }

    String about() throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String level = "level " + connection.getTransactionIsolation();
        for (Map.Entry<String, Integer> entry : LEVELS.entrySet())
            if (entry.getValue() == connection.getTransactionIsolation()) level = entry.getKey();
        connection.rollback();
        return "{\"type\":\"ok\",\"value\":[],\"database\":" + quoted(data.getDatabaseProductName())
                + ",\"version\":" + quoted(data.getDatabaseProductVersion()) + ",\"isolation\":"
                + quoted(level) + "}";
    }

    static String text(String action, Object key, Object value) {
        return "[\"" + action + "\"," + key + "," + value + "]";
    }

    static String failure(String type, SQLException error) {
        String state = error.getSQLState() == null ? "" : error.getSQLState();
        String cause = state.startsWith("23") ? "constraint: " : state.startsWith("08") ? "connection lost: "
                : state.startsWith("42") ? "statement refused: " : "";
        return "{\"type\":\"" + type + "\",\"error\":" + quoted(cause + state + " " + error.getMessage()) + "}";
    }

    static String quoted(String text) {
        return '"' + text.replaceAll("[\\p{Cntrl}\"\\\\]+", " ") + '"';
    }

    // What cupel sends: arrays of words without escapes, integers and null.
    static final class Json {
        final String text;
        int at = 0;

        Json(String text) {
            this.text = text;
        }

        Object value() {
            if (text.charAt(at) == '[') return array();
            int begin = at;
            while (",]".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(begin, at).trim();
            return word.equals("null") ? null : word.startsWith("\"") ? word.substring(1, word.length() - 1) : word;
        }

        List<Object> array() {
            List<Object> items = new ArrayList<>();
            at++;
            while (text.charAt(at) != ']') {
                items.add(value());
                if (text.charAt(at) == ',') at++;
            }
            at++;
            return items;
        }
    }
}
