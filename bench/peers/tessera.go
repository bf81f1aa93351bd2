package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

// openTessera opens a log within this process. An entry is durable once its index is known. If signed, each entry has
// an Ed25519 signature of its own, as receipts have.
func openTessera(folder string, signed bool) client {
	ctx := context.Background()
	secret, _, err := note.GenerateKey(rand.Reader, "peer.localhost")
	check(err)
	driver := must(posix.New(ctx, posix.Config{Path: folder}))
	options := tessera.NewAppendOptions().WithCheckpointSigner(must(note.NewSigner(secret))).
		WithCheckpointInterval(time.Second).WithBatching(256, 5*time.Millisecond)
	appender, shutdown, _, err := tessera.NewAppender(ctx, driver, options)
	check(err)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	return client{
		add: func(ctx context.Context, payload []byte) error {
			entry := append([]byte(nil), payload...)
			if signed {
				entry = append(entry, ed25519.Sign(key, payload)...)
			}
			_, err := appender.Add(ctx, tessera.NewEntry(entry))()
			return err
		},
		close: func() { check(shutdown(ctx)) },
	}
}
