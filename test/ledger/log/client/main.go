// Reads a whole Merkle log with Go's own client of transparency logs, and believes nothing but its verifier key:
// main URL VERIFIER_KEY
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type tiles struct{ url string }

// Tiles that were read; one that is full, or of one tree, never changes.
var known = map[string][]byte{}

func (tiles) Height() int { return 8 }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		// Path() is tile/H/L/N; what is served is tile/L/N.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		if known[path] == nil {
			data, err := get(t.url + "/" + path)
			if err != nil {
				return nil, err
			}
			known[path] = data
		}
		found = append(found, known[path])
	}
	return found, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func main() {
	url, key := os.Args[1], os.Args[2]
	tree := checkpoint(url, key)
	hashes := tlog.TileHashReader(tree, tiles{url})
	for n := int64(0); n < tree.N; n++ {
		leaf := entry(url, n, tree.N)
		proof, err := tlog.ProveRecord(tree.N, n, hashes)
		must(err)
		must(tlog.CheckRecord(proof, tree.N, tree.Hash, n, tlog.RecordHash(leaf)))
		if n%97 == 0 {
			checkApi(url, leaf, tree)
		}
	}
	for _, size := range []int64{1, 2, 255, 256, 257, tree.N - 1, tree.N} {
		if size < 1 || size > tree.N {
			continue
		}
		old, err := tlog.TreeHash(size, hashes)
		must(err)
		proof, err := tlog.ProveTree(tree.N, size, hashes)
		must(err)
		must(tlog.CheckTree(proof, tree.N, tree.Hash, size, old))
		checkGrowth(url, size, old, tree)
	}
	fmt.Printf("verified %d leaves\n", tree.N)
}

func checkpoint(url, key string) tlog.Tree {
	text, err := get(url + "/checkpoint")
	must(err)
	verifier, err := note.NewVerifier(key)
	must(err)
	opened, err := note.Open(text, note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != verifier.Name() {
		panic("the origin is " + lines[0])
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	must(err)
	root, err := base64.StdEncoding.DecodeString(lines[2])
	must(err)
	return tlog.Tree{N: size, Hash: tlog.Hash(root)}
}

var bundles = map[string][][]byte{}

// One leaf, out of the bundle that it is in.
func entry(url string, n, size int64) []byte {
	tile := tlog.Tile{H: 8, L: 0, N: n / 256, W: int(min(256, size-n/256*256))}
	path := strings.Replace(tile.Path(), "tile/8/0/", "tile/entries/", 1)
	if bundles[path] == nil {
		data, err := get(url + "/" + path)
		must(err)
		for len(data) > 0 {
			length := binary.BigEndian.Uint16(data)
			bundles[path] = append(bundles[path], data[2:2+length])
			data = data[2+length:]
		}
	}
	return bundles[path][n%256]
}

type answer struct {
	Hashes []string
	From   int64
	To     int64
}

// The proofs that the API gives lead to the same root.
func checkApi(url string, leaf []byte, tree tlog.Tree) {
	var receipt struct {
		Id       string
		Position int64 `json:"chain_position"`
	}
	must(json.Unmarshal(leaf, &receipt))
	given := ask(fmt.Sprintf("%s/api/log/inclusion/%s?tree_size=%d", url, receipt.Id, tree.N))
	must(tlog.CheckRecord(tlog.RecordProof(given), tree.N, tree.Hash, receipt.Position, tlog.RecordHash(leaf)))
}

func checkGrowth(url string, size int64, old tlog.Hash, tree tlog.Tree) {
	given := ask(fmt.Sprintf("%s/api/log/consistency?from=%d&to=%d", url, size, tree.N))
	must(tlog.CheckTree(tlog.TreeProof(given), tree.N, tree.Hash, size, old))
}

func ask(url string) []tlog.Hash {
	data, err := get(url)
	must(err)
	var given answer
	must(json.Unmarshal(data, &given))
	var hashes []tlog.Hash
	for _, text := range given.Hashes {
		hash, err := hex.DecodeString(text)
		must(err)
		hashes = append(hashes, tlog.Hash(hash))
	}
	return hashes
}

func get(url string) ([]byte, error) {
	response, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
