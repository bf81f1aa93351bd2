// Measures a peer under the load that the ledger is measured under, and prints entries a second:
//
//	load PEER CLIENTS CALLERS BYTES COUNT WHERE
//
// WHERE is the port of immudb's server, or the folder of Tessera's log.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// client adds entries to a peer.
type client struct {
	// add returns once the entry is durable.
	add   func(ctx context.Context, payload []byte) error
	close func()
}

func main() {
	peer, where := os.Args[1], os.Args[6]
	callers, bytes, count := number(3), number(4), number(5)
	clients := make([]client, number(2))
	for n := range clients {
		clients[n] = open(peer, where)
		defer clients[n].close()
	}
	run(clients, callers, bytes, count/10) // warms up
	fmt.Printf("%.0f\n", run(clients, callers, bytes, count))
}

func open(peer, where string) client {
	switch peer {
	case "immudb", "immudb-verified":
		return openImmudb(where, peer == "immudb-verified")
	case "tessera", "tessera-signed":
		return openTessera(where, peer == "tessera-signed")
	}
	panic("unknown peer " + peer)
}

// run returns entries a second. Every caller adds one entry at a time; callers are spread evenly over the clients.
func run(clients []client, callers, bytes, count int) float64 {
	var left atomic.Int64
	left.Store(int64(count))
	var all sync.WaitGroup
	started := time.Now()
	for caller := range callers {
		add := clients[caller%len(clients)].add
		all.Go(func() {
			payload := make([]byte, bytes)
			must(rand.Read(payload))
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				copy(payload, strconv.FormatInt(n, 10)+"-"+strconv.FormatInt(time.Now().UnixNano(), 10))
				check(add(context.Background(), payload))
			}
		})
	}
	all.Wait()
	return float64(count) / time.Since(started).Seconds()
}

func number(argument int) int {
	return must(strconv.Atoi(os.Args[argument]))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
