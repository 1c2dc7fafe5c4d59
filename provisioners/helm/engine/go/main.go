// Helm's own engine as a WebAssembly reactor: one instance answers any number of requests, each of
// them handed over in linear memory. It reads no file, no variable and no argument, and reaches
// neither a network nor a cluster.
//
// The host reserves room for a request, writes it there, calls `inspect` or `render`, and reads as
// many bytes of the answer as the call returned.
package main

import "unsafe"

// Go's collector must see them while the host reads and writes them.
var (
	received []byte
	answered []byte
)

//go:wasmexport reserve
func reserve(size uint32) unsafe.Pointer {
	received = make([]byte, size)
	return unsafe.Pointer(unsafe.SliceData(received))
}

//go:wasmexport inspect
func inspect() uint32 {
	return answer(func(request *request) (any, error) { return inspectChart(request) })
}

//go:wasmexport render
func render() uint32 {
	return answer(func(request *request) (any, error) { return renderChart(request) })
}

//go:wasmexport answer
func answerAddress() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(answered))
}

// Drops request and answer, so that an idle instance holds neither.
//
//go:wasmexport forget
func forget() {
	received = nil
	answered = nil
}

func main() {}
