package main

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/codenotary/immudb/pkg/api/schema"
	immudb "github.com/codenotary/immudb/pkg/client"
)

const (
	database = "load"
	user     = "immudb"
	password = "immudb"
	keyBytes = 40
)

// openImmudb opens a client with a state of its own. VerifiedSet holds a lock of that state for the whole call, so a
// client has one verified call at a time; Set has no lock.
func openImmudb(port string, verified bool) client {
	ctx := context.Background()
	state := must(os.MkdirTemp("", "immudb-client-"))
	options := immudb.DefaultOptions().WithAddress("127.0.0.1").WithPort(must(strconv.Atoi(port))).WithDir(state)
	connection := immudb.NewClient().WithOptions(options)
	check(connection.OpenSession(ctx, []byte(user), []byte(password), "defaultdb"))
	createDatabase(ctx, connection)
	check(connection.CloseSession(ctx))
	check(connection.OpenSession(ctx, []byte(user), []byte(password), database))
	set := connection.Set
	if verified {
		set = connection.VerifiedSet
	}
	return client{
		add: func(ctx context.Context, payload []byte) error {
			_, err := set(ctx, payload[:keyBytes], payload)
			return err
		},
		close: func() { check(connection.CloseSession(ctx)) },
	}
}

// createDatabase creates the database unless it exists. The default database refuses more than 30 calls at once.
func createDatabase(ctx context.Context, connection immudb.ImmuClient) {
	settings := &schema.DatabaseNullableSettings{MaxConcurrency: &schema.NullableUint32{Value: 1024}}
	_, err := connection.CreateDatabaseV2(ctx, database, settings)
	if err != nil && !strings.Contains(err.Error(), "exist") {
		panic(err)
	}
}
