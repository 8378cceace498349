// Package recorder records what your own application saw, as a history that `cupel check` reads.
//
// Copy this file into a folder of your module; it needs Go 1.18 and nothing else. Call it from the
// data layer, once for each transaction begun, each value read or written, and each outcome:
//
//	r, err := recorder.Open("history.jsonl", recorder.Options{Initial: 0}) // every key holds 0 at first
//	session := r.Session()                                                 // one for each connection
//	session.Begin()
//	session.Read("account:7", 100)                                         // what the database returned
//	session.Write("account:7", r.UniqueID())
//	session.Committing()                                                   // just before COMMIT is sent
//	session.Committed()                                                    // it was acknowledged
//	err = r.Close()
//
// Write values that are unique for each key: then every read shows which transaction it saw. Say
// Committed only if the database acknowledged the commit, and Aborted only if it certainly did not
// commit. Everything else (time-out, lost connection) is Indeterminate.
//
// Keys and values are integers, strings, booleans, nil, or slices of them. Times are monotonic, in
// nanoseconds. Any goroutine may use a recorder; a session is for one at a time. Each line is written
// when it is known, so a crash of the program loses nothing. If the file cannot be written, or a value
// cannot be recorded, Close says so; the application itself is not disturbed.
package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"sync"
	"time"
)

// Options of a recorder. Metadata, for example: {"database": "PostgreSQL", "isolation": "repeatable read"}.
type Options struct {
	Initial  any // what every key holds at first; nil: nothing
	Metadata map[string]string
}

// Recorder is the file.
type Recorder struct {
	mutex                 sync.Mutex
	file                  *os.File
	start                 time.Time
	initial               json.RawMessage
	lines, ids, processes int64
	err                   error
}

// Row is one of those that a range read returned.
type Row struct{ Key, Value any }

type line struct {
	Type    string          `json:"type"`
	Process any             `json:"process"`
	F       string          `json:"f"`
	Value   json.RawMessage `json:"value"`
	Time    *int64          `json:"time,omitempty"`
	Node    string          `json:"node,omitempty"`
	Error   string          `json:"error,omitempty"`
	Index   int64           `json:"index"`
}

// Open begins a history file.
func Open(path string, options Options) (*Recorder, error) {
	initial, err := text(options.Initial)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r := &Recorder{file: file, start: time.Now(), initial: initial}
	if len(options.Metadata) > 0 {
		pairs := [][]string{}
		for name, value := range options.Metadata {
			pairs = append(pairs, []string{name, value})
		}
		sort.Slice(pairs, func(i, j int) bool { return pairs[i][0] < pairs[j][0] })
		r.nemesis("cupel.metadata", r.text(pairs))
	}
	if options.Initial != nil {
		r.writeInitial([]any{})
	}
	return r, nil
}

// Session is what one connection saw.
func (r *Recorder) Session() *Session {
	return &Session{recorder: r, process: r.nextProcess()}
}

// Initial says what one key holds before the recording. Before its first use.
func (r *Recorder) Initial(key, value any) {
	r.writeInitial([]any{[]any{key, value}})
}

// UniqueID gives a number that no other write of this recorder has; from 1.
func (r *Recorder) UniqueID() int64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ids++
	return r.ids
}

// NowNs is the time since Open.
func (r *Recorder) NowNs() int64 { return time.Since(r.start).Nanoseconds() }

// Close says what could not be recorded, if anything.
func (r *Recorder) Close() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.file != nil {
		if err := r.file.Close(); r.err == nil {
			r.err = err
		}
		r.file = nil
	}
	return r.err
}

func (r *Recorder) nextProcess() int64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.processes++
	return r.processes - 1
}

func (r *Recorder) writeInitial(pairs []any) {
	r.nemesis("cupel.initial", r.text([]any{r.initial, pairs}))
}

func (r *Recorder) nemesis(f string, value json.RawMessage) {
	r.write(line{Type: "info", Process: "nemesis", F: f, Value: value})
}

func (r *Recorder) write(l line) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.file == nil || r.err != nil {
		return
	}
	l.Index = r.lines
	r.lines++
	encoded, err := encode(l)
	if err == nil {
		_, err = r.file.Write(append(encoded, '\n'))
	}
	r.err = err
}

// After what cannot be recorded, the file would lie about what happened, so it ends there.
func (r *Recorder) end(err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// The text of a value.
func (r *Recorder) text(value any) json.RawMessage {
	encoded, err := text(value)
	if err != nil {
		r.end(err)
		return json.RawMessage("null")
	}
	return encoded
}

func text(value any) (json.RawMessage, error) {
	if err := recordable(value); err != nil {
		return nil, err
	}
	return encode(value)
}

func encode(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(buffer.Bytes(), "\n"), err
}

func recordable(value any) error {
	if value == nil {
		return nil
	}
	if _, known := value.(json.RawMessage); known {
		return nil
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint8:
		return nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break // JSON would have it in base64
		}
		if v.IsNil() {
			return fmt.Errorf("recorder: cannot record a nil slice: an empty list is not nil")
		}
		for i := 0; i < v.Len(); i++ {
			if err := recordable(v.Index(i).Interface()); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("recorder: cannot record a %T: expected an integer, a string, a bool, nil or a slice of them", value)
}

// Session is what one connection saw. Recorder.Session makes it.
type Session struct {
	recorder              *Recorder
	process               int64
	node                  string
	open, invoked, retold bool
	begun                 int64
	asked, seen           []json.RawMessage
}

// On names the server that the transactions from here on run on; explanations show it.
func (s *Session) On(node string) { s.node = node }

// Begin begins a transaction.
func (s *Session) Begin() {
	if s.open {
		s.Indeterminate("the next transaction began")
	}
	s.open, s.invoked, s.retold = true, false, false
	s.asked, s.seen = []json.RawMessage{}, []json.RawMessage{}
	s.begun = s.recorder.NowNs()
}

// Read of a value that the database returned; of a list, all its elements.
func (s *Session) Read(key, value any) {
	s.operation([]any{"r", key, nil}, []any{"r", key, value})
}

// Write of a value.
func (s *Session) Write(key, value any) { s.both([]any{"w", key, value}) }

// Insert of a key that was absent.
func (s *Session) Insert(key, value any) { s.both([]any{"insert", key, value}) }

// Delete of a key.
func (s *Session) Delete(key any) { s.both([]any{"delete", key, nil}) }

// Append of an element to a list.
func (s *Session) Append(key, element any) { s.both([]any{"append", key, element}) }

// ReadRange has all rows that the database returned, in its order.
func (s *Session) ReadRange(low, high any, rows []Row) {
	found := []any{}
	for _, row := range rows {
		found = append(found, []any{row.Key, row.Value})
	}
	bounds := []any{low, high}
	s.operation([]any{"range", bounds, nil}, []any{"range", bounds, found})
}

// CompareAndSet of a key, and whether the comparison succeeded.
func (s *Session) CompareAndSet(key, expected, desired any, succeeded bool) {
	values := []any{expected, desired}
	seen := []any{"cas", key, values}
	if !succeeded {
		seen = append(seen, false)
	}
	s.operation([]any{"cas", key, values}, seen)
}

// Committing is called just before COMMIT is sent. If the program crashes after it, the transaction is
// indeterminate in the file. A database may run a transaction in one piece. Then report its operations
// with reads of nil, call this, and report them again with what they returned.
func (s *Session) Committing() {
	if s.open && !s.invoked {
		s.invoked = true
		s.line("invoke", s.asked, s.begun, "")
	}
}

// Committed means that the database acknowledged the commit.
func (s *Session) Committed() { s.complete("ok", "") }

// Aborted means that the transaction certainly did not commit.
func (s *Session) Aborted(why string) { s.complete("fail", why) }

// Indeterminate: the session goes on as a new process, because the transaction may still be under way.
func (s *Session) Indeterminate(why string) {
	if s.open {
		s.complete("info", why)
		s.process = s.recorder.nextProcess()
	}
}

func (s *Session) both(call []any) { s.operation(call, call) }

func (s *Session) operation(asked, seen []any) {
	if !s.open {
		err := fmt.Errorf("recorder: %v outside of a transaction; call Begin first", asked[0])
		s.recorder.end(err)
		panic(err)
	}
	asks, sees := s.recorder.text(asked), s.recorder.text(seen)
	if s.invoked && !s.retold {
		s.retold, s.seen = true, []json.RawMessage{}
	}
	if !s.invoked {
		s.asked = append(s.asked, asks)
	}
	s.seen = append(s.seen, sees)
}

func (s *Session) complete(kind string, why string) {
	if s.open {
		s.Committing()
		s.line(kind, s.seen, s.recorder.NowNs(), why)
		s.open = false
	}
}

func (s *Session) line(kind string, operations []json.RawMessage, at int64, why string) {
	value, err := encode(operations)
	if err != nil {
		panic(err) // texts of JSON always are
	}
	s.recorder.write(line{Type: kind, Process: s.process, F: "txn", Value: value, Time: &at, Node: s.node, Error: why})
}
