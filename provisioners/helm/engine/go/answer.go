package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// What the host gets, as JSON: a result or an error, and what Helm said besides.
type reply struct {
	Result   any      `json:"result,omitempty"`
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings"`
	// A defect of the engine, with its stack: the host makes a new instance.
	Panic string `json:"panic,omitempty"`
}

func answer(work func(*request) (any, error)) uint32 {
	warnings := collectWarnings()
	replied := attempt(work)
	replied.Warnings = warnings.sorted()
	buffer := &bytes.Buffer{}
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(replied); err != nil {
		panic(err)
	}
	answered = buffer.Bytes()
	return uint32(len(answered))
}

func attempt(work func(*request) (any, error)) (replied reply) {
	defer func() {
		if thrown := recover(); thrown != nil {
			replied = reply{Panic: fmt.Sprintf("%v\n%s", thrown, debug.Stack())}
		}
	}()
	asked, err := readRequest(received)
	if err != nil {
		return reply{Panic: err.Error()}
	}
	seedRandom()
	result, err := work(asked)
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{Result: result}
}
