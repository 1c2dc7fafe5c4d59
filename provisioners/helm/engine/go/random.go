// Makes rand.Seed do what it says: its successors cannot seed what sprig draws from.
//
//go:debug randseednop=0

package main

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand"
)

// What sprig draws from math/rand (`randInt`, `shuffle`) follows from the host's random bytes, as
// does what it draws from crypto/rand: with a seed the same request renders the same.
func seedRandom() {
	var seed [8]byte
	rand.Read(seed[:])
	mathrand.Seed(int64(binary.LittleEndian.Uint64(seed[:])))
}
