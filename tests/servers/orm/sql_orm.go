// Go's database/sql over lib/pq: the steps. Each line is `ok NAME` or `failed NAME: WHY`, as of
// steps.py.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/lib/pq"
)

var db *sql.DB

type querier interface {
	QueryRow(query string, arguments ...interface{}) *sql.Row
	Exec(query string, arguments ...interface{}) (sql.Result, error)
}

// A failed step panics with its reason.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(seen, wanted interface{}) {
	if !reflect.DeepEqual(seen, wanted) {
		panic(fmt.Errorf("saw %v, not %v", seen, wanted))
	}
}

func run(on querier, query string, arguments ...interface{}) int64 {
	result, err := on.Exec(query, arguments...)
	must(err)
	count, err := result.RowsAffected()
	must(err)
	return count
}

func stock(on querier, name string) (value int) {
	must(on.QueryRow("SELECT stock FROM item WHERE name = $1", name).Scan(&value))
	return value
}

func begin() *sql.Tx {
	tx, err := db.Begin()
	must(err)
	return tx
}

// The error of the server that the statement must have.
func refused(on querier, query string, arguments ...interface{}) *pq.Error {
	_, err := on.Exec(query, arguments...)
	var server *pq.Error
	if !errors.As(err, &server) {
		panic(fmt.Errorf("no error of the server: %v", err))
	}
	return server
}

func connect() {
	must(db.Ping())
	var one int
	must(db.QueryRow("SELECT 1").Scan(&one))
	expect(one, 1)
}

func migrate() {
	tx := begin()
	run(tx, `CREATE TABLE item (id serial PRIMARY KEY, name varchar(50) NOT NULL UNIQUE,
		stock integer NOT NULL CONSTRAINT stock_left CHECK (stock >= 0), tags text[])`)
	run(tx, `CREATE TABLE orders (id bigserial PRIMARY KEY, item_id integer NOT NULL REFERENCES item,
		quantity integer NOT NULL, placed timestamptz NOT NULL DEFAULT now())`)
	must(tx.Commit())
	tx = begin()
	run(tx, "ALTER TABLE item ADD COLUMN note text")
	must(tx.Rollback())
	var columns int
	must(db.QueryRow(`SELECT count(*) FROM information_schema.columns
		WHERE table_name = 'item'`).Scan(&columns))
	expect(columns, 4)
}

func create() {
	var id int
	must(db.QueryRow("INSERT INTO item (name, stock, tags) VALUES ($1, $2, $3) RETURNING id", "pen",
		10, pq.Array([]string{"blue", "new"})).Scan(&id))
	run(db, "INSERT INTO orders (item_id, quantity) VALUES ($1, $2)", id, 2)
	tx := begin()
	copied, err := tx.Prepare(pq.CopyIn("item", "name", "stock"))
	must(err)
	for name, stock := range map[string]int{"ink": 5, "pad": 7} {
		_, err = copied.Exec(name, stock)
		must(err)
	}
	_, err = copied.Exec()
	must(err)
	must(copied.Close())
	must(tx.Commit())
	expect(run(db, "INSERT INTO item (name, stock) VALUES ('pen', 0) ON CONFLICT DO NOTHING"), int64(0))
}

func query() {
	prepared, err := db.Prepare("SELECT name FROM item WHERE stock > $1 ORDER BY name")
	must(err)
	defer prepared.Close()
	rows, err := prepared.QueryContext(context.Background(), 5)
	must(err)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		must(rows.Scan(&name))
		names = append(names, name)
	}
	must(rows.Err())
	expect(names, []string{"pad", "pen"})
	var tags []string
	var placed time.Time
	must(db.QueryRow("SELECT tags, placed FROM item JOIN orders ON item_id = item.id").Scan(
		pq.Array(&tags), &placed))
	expect(tags, []string{"blue", "new"})
	expect(time.Since(placed) < time.Hour, true)
}

func update() {
	expect(run(db, "UPDATE item SET stock = 6 WHERE name = $1", "ink"), int64(1))
	expect(run(db, "UPDATE item SET stock = stock - 1 WHERE name = $1", "ink"), int64(1))
	expect(stock(db, "ink"), 5)
}

func rollback() {
	tx := begin()
	run(tx, "UPDATE item SET stock = 9 WHERE name = 'pen'")
	must(tx.Commit())
	tx = begin()
	run(tx, "UPDATE item SET stock = 1 WHERE name = 'pen'")
	expect(stock(tx, "pen"), 1)
	must(tx.Rollback())
	expect(stock(db, "pen"), 9)
}

func savepoint() {
	tx := begin()
	run(tx, "UPDATE item SET stock = 6 WHERE name = 'pad'")
	run(tx, "SAVEPOINT mark")
	run(tx, "UPDATE item SET stock = 1 WHERE name = 'pad'")
	refused(tx, "INSERT INTO item (name, stock) VALUES ('pen', 1)")
	run(tx, "ROLLBACK TO SAVEPOINT mark")
	expect(stock(tx, "pad"), 6)
	must(tx.Commit())
	expect(stock(db, "pad"), 6)
}

func forUpdate() {
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	must(err)
	var left int
	must(tx.QueryRow("SELECT stock FROM item WHERE name = 'pen' FOR UPDATE").Scan(&left))
	run(tx, "UPDATE item SET stock = $1 WHERE name = 'pen'", left-1)
	must(tx.QueryRow("SELECT stock FROM item WHERE name = 'pad' FOR UPDATE SKIP LOCKED").Scan(&left))
	expect(left, 6)
	must(tx.Commit())
	expect(stock(db, "pen"), 8)
}

func constraints() {
	unique := refused(db, "INSERT INTO item (name, stock) VALUES ('pen', 1)")
	expect([]string{unique.Code.Name(), unique.Table, unique.Constraint},
		[]string{"unique_violation", "item", "item_name_key"})
	expect(refused(db, "INSERT INTO item (name, stock) VALUES ('cap', -1)").Constraint, "stock_left")
	lost := refused(db, "INSERT INTO orders (item_id, quantity) VALUES (1000000, 1)")
	expect(lost.Code.Name(), "foreign_key_violation")
	expect(refused(db, "INSERT INTO item (name) VALUES ('cap')").Column, "stock")
}

func remove() {
	run(db, "DELETE FROM orders")
	expect(run(db, "DELETE FROM item WHERE name = 'pen'"), int64(1))
	err := db.QueryRow("SELECT stock FROM item WHERE name = 'pen'").Scan(new(int))
	expect(err, sql.ErrNoRows)
}

// Whether the step went well.
func try(name string, step func()) (well bool) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Printf("failed %s: %s\n", name, strings.ReplaceAll(fmt.Sprint(reason), "\n", " "))
		}
	}()
	step()
	fmt.Println("ok", name)
	return true
}

func main() {
	var err error
	db, err = sql.Open("postgres", "sslmode=disable") // the rest is in PGHOST and its like
	must(err)
	defer db.Close()
	fmt.Println("version database/sql of", runtime.Version(), "over lib/pq")
	steps := []struct {
		name string
		step func()
	}{
		{"connect", connect}, {"migrate", migrate}, {"create", create}, {"query", query},
		{"update", update}, {"rollback", rollback}, {"savepoint", savepoint},
		{"for-update", forUpdate}, {"constraints", constraints}, {"delete", remove},
	}
	failed := 0
	for _, one := range steps {
		if !try(one.name, one.step) {
			failed++
		}
	}
	if failed > 0 {
		os.Exit(1)
	}
}
