// Makes rand.Seed do what it says: its successors cannot seed what sprig draws from.
//
//go:debug randseednop=0

package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	mathrand "math/rand"
	"slices"
	"text/template"
	"time"
)

// Over Helm's own. Without a lookup, Helm's engine answers every one with nothing found.
func functions(lookup string) template.FuncMap {
	over := template.FuncMap{"now": timeOnly, "keys": sortedKeys, "values": valuesByKey}
	if lookup != "empty" {
		over["lookup"] = refuseLookup
	}
	return over
}

// Printed as it is, Go's time has the process's age too, which is another one at every call.
func timeOnly() time.Time {
	return time.Now().Round(0)
}

// sprig's `keys` and `values` have the order of a map, which is another one at every call.
func sortedKeys(dicts ...map[string]any) []string {
	keys := []string{}
	for _, dict := range dicts {
		keys = append(keys, slices.Sorted(maps.Keys(dict))...)
	}
	return keys
}

func valuesByKey(dict map[string]any) []any {
	values := []any{}
	for _, key := range sortedKeys(dict) {
		values = append(values, dict[key])
	}
	return values
}

func refuseLookup(apiVersion, kind, namespace, name string) (map[string]any, error) {
	return nil, fmt.Errorf(
		"lookup %q %q %q %q is refused: a chart is rendered without the cluster; with lookup: Empty in spec.config every lookup finds nothing",
		apiVersion, kind, namespace, name,
	)
}

// What sprig draws from math/rand (`randInt`, `shuffle`) follows from the host's random bytes, as
// does what it draws from crypto/rand: with a seed the same request renders the same.
func seedRandom() {
	var seed [8]byte
	rand.Read(seed[:])
	mathrand.Seed(int64(binary.LittleEndian.Uint64(seed[:])))
}
