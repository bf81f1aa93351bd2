// Measures two peers under the same load as the ledger: COMMAND CALLERS BYTES COUNT [WHERE], and prints entries a second.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/codenotary/immudb/pkg/api/schema"
	immudb "github.com/codenotary/immudb/pkg/client"
	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	command, where := os.Args[1], os.Args[5]
	callers, bytes, count := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	var add func(ctx context.Context, payload []byte) error
	switch command {
	case "immudb", "immudb-verified":
		add = openImmudb(number(where), command == "immudb-verified")
	case "tessera", "tessera-signed":
		add = openTessera(where, command == "tessera-signed")
	default:
		panic("unknown command " + command)
	}
	run(add, callers, bytes, count/10) // warms up
	fmt.Printf("%.0f\n", run(add, callers, bytes, count))
}

// Every caller adds and waits until its entry is durable, then adds the next.
func run(add func(context.Context, []byte) error, callers, bytes, count int) float64 {
	var left atomic.Int64
	left.Store(int64(count))
	var all sync.WaitGroup
	started := time.Now()
	for range callers {
		all.Go(func() {
			payload := make([]byte, bytes)
			rand.Read(payload)
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				copy(payload, strconv.FormatInt(n, 10)+"-"+strconv.FormatInt(time.Now().UnixNano(), 10))
				must(add(context.Background(), payload))
			}
		})
	}
	all.Wait()
	return float64(count) / time.Since(started).Seconds()
}

func openImmudb(port int, verified bool) func(context.Context, []byte) error {
	state, err := os.MkdirTemp("", "immudb-client-")
	must(err)
	options := immudb.DefaultOptions().WithAddress("127.0.0.1").WithPort(port).WithDir(state)
	ctx := context.Background()
	client := immudb.NewClient().WithOptions(options)
	must(client.OpenSession(ctx, []byte("immudb"), []byte("immudb"), "defaultdb"))
	// Its default database refuses more than 30 callers at once.
	settings := &schema.DatabaseNullableSettings{MaxConcurrency: &schema.NullableUint32{Value: 1024}}
	if _, err := client.CreateDatabaseV2(ctx, "load", settings); err != nil && !strings.Contains(err.Error(), "exist") {
		panic(err)
	}
	must(client.CloseSession(ctx))
	must(client.OpenSession(ctx, []byte("immudb"), []byte("immudb"), "load"))
	return func(ctx context.Context, payload []byte) error {
		var err error
		if verified {
			_, err = client.VerifiedSet(ctx, payload[:40], payload)
		} else {
			_, err = client.Set(ctx, payload[:40], payload)
		}
		return err
	}
}

// Every entry is durable once its index is known; signed: with an Ed25519 signature of its own, as receipts have.
func openTessera(folder string, signed bool) func(context.Context, []byte) error {
	ctx := context.Background()
	secret, _, err := note.GenerateKey(rand.Reader, "peer.localhost")
	must(err)
	signer, err := note.NewSigner(secret)
	must(err)
	driver, err := posix.New(ctx, posix.Config{Path: folder})
	must(err)
	options := tessera.NewAppendOptions().WithCheckpointSigner(signer).
		WithCheckpointInterval(time.Second).WithBatching(256, 5*time.Millisecond)
	appender, _, _, err := tessera.NewAppender(ctx, driver, options)
	must(err)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(err)
	return func(ctx context.Context, payload []byte) error {
		entry := append([]byte(nil), payload...)
		if signed {
			entry = append(entry, ed25519.Sign(key, payload)...)
		}
		_, err := appender.Add(ctx, tessera.NewEntry(entry))()
		return err
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
