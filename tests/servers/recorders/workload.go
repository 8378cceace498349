// workload URL HISTORY ISOLATION: four connections of lib/pq to PostgreSQL, recorded.
//
// In the first round all read key 0 before any of them writes it. Below snapshot isolation this loses
// an update. `workload script HISTORY` records operations of every kind, without a database.
// `workload refused HISTORY MISTAKE` makes a mistake, goes on, and says how the recording ended.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sync"

	"github.com/lib/pq"
	"recorder"
)

const (
	clients = 4
	rounds  = 40
	keys    = 3
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func script(path string) {
	r, err := recorder.Open(path, recorder.Options{Initial: 0, Metadata: map[string]string{"database": "none"}})
	must(err)
	r.Initial("list", []int{})
	a, b := r.Session(), r.Session()
	a.Begin()
	a.Read("x", 0)
	a.Write("x", r.UniqueID())
	a.Append("list", 1)
	a.Committed()
	b.On("n1")
	b.Begin()
	b.Read("list", []int{1})
	b.Insert("y \"\\\n\u00e9", nil)
	b.Delete(2)
	b.ReadRange(1, 9, []recorder.Row{{Key: 3, Value: "three"}, {Key: 4, Value: nil}})
	b.Committing()
	b.Aborted("serialization failure")
	a.Begin()
	a.Read("x", nil)
	a.CompareAndSet("x", 1, 2, true)
	a.Committing()
	a.Read("x", 1)
	a.CompareAndSet("x", 1, 2, false)
	a.Indeterminate("time-out")
	a.Begin()
	a.Begin()
	a.Committed()
	must(r.Close())
}

func refused(path, mistake string) {
	r, err := recorder.Open(path, recorder.Options{})
	must(err)
	a, b := r.Session(), r.Session()
	a.Begin()
	a.Write("x", 1)
	a.Committed()
	func() {
		defer func() { recover() }()
		switch mistake {
		case "initial":
			r.Initial("y", 1.5)
		case "rows":
			a.Begin()
			a.ReadRange(1, 2, []recorder.Row{{Key: 1, Value: 1.5}})
		case "value":
			a.Begin()
			a.Write("x", 1.5)
		default:
			a.Write("x", 2)
		}
	}()
	a.Committed()
	b.Begin()
	b.Write("z", 3)
	b.Committed()
	err = r.Close()
	if err == nil {
		log.Fatal("Close said nothing")
	}
	fmt.Println(err)
}

func transaction(db *sql.DB, session *recorder.Session, r *recorder.Recorder, isolation sql.IsolationLevel, reads, writes int, between func()) {
	session.Begin()
	err := func() error {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: isolation})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var seen int64
		if err := tx.QueryRow("SELECT v FROM recorded WHERE k = $1", reads).Scan(&seen); err != nil {
			return err
		}
		session.Read(reads, seen)
		between()
		value := r.UniqueID()
		session.Write(writes, value)
		if _, err := tx.Exec("UPDATE recorded SET v = $1 WHERE k = $2", value, writes); err != nil {
			return err
		}
		session.Committing()
		return tx.Commit()
	}()
	var refused *pq.Error
	switch {
	case err == nil:
		session.Committed()
	case errors.As(err, &refused):
		session.Aborted(string(refused.Code))
	default:
		session.Indeterminate(err.Error())
		log.Fatal(err)
	}
}

func main() {
	if os.Args[1] == "script" {
		script(os.Args[2])
		return
	}
	if os.Args[1] == "refused" {
		refused(os.Args[2], os.Args[3])
		return
	}
	url, path, isolation := os.Args[1], os.Args[2], os.Args[3]
	level, known := map[string]sql.IsolationLevel{
		"serializable":   sql.LevelSerializable,
		"read committed": sql.LevelReadCommitted,
	}[isolation]
	if !known {
		log.Fatalf("%s: expected serializable or read committed", isolation)
	}
	db, err := sql.Open("postgres", url)
	must(err)
	db.SetMaxIdleConns(clients)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS recorded",
		"CREATE TABLE recorded (k int PRIMARY KEY, v bigint)",
		"INSERT INTO recorded SELECT k, 0 FROM generate_series(0, 2) k",
	} {
		_, err := db.Exec(statement)
		must(err)
	}
	r, err := recorder.Open(path, recorder.Options{Initial: 0,
		Metadata: map[string]string{"database": "PostgreSQL", "isolation": isolation}})
	must(err)
	var together, done sync.WaitGroup
	together.Add(clients)
	done.Add(clients)
	for i := 0; i < clients; i++ {
		go func(number int64) {
			defer done.Done()
			session := r.Session()
			choose := rand.New(rand.NewSource(number))
			transaction(db, session, r, level, 0, 0, func() { together.Done(); together.Wait() })
			for i := 1; i < rounds; i++ {
				transaction(db, session, r, level, choose.Intn(keys), choose.Intn(keys), func() {})
			}
		}(int64(i))
	}
	done.Wait()
	must(r.Close())
}
