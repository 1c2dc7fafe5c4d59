package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// What the host asks: the length of a JSON text (four bytes, little-endian), that text, and the
// content of the files in their order.
type request struct {
	Files       []requestFile    `json:"files"`
	Values      []valuesDocument `json:"values"`
	Release     release          `json:"release"`
	KubeVersion string           `json:"kubeVersion"`
	APIVersions []string         `json:"apiVersions"`
	Lookup      string           `json:"lookup"`
}

type requestFile struct {
	Path string `json:"path"`
	Size int    `json:"size"`
	data []byte
}

type valuesDocument struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

var errCutRequest = errors.New("the request is cut off")

func readRequest(bytes []byte) (*request, error) {
	if len(bytes) < 4 {
		return nil, errCutRequest
	}
	size := int(binary.LittleEndian.Uint32(bytes))
	if size > len(bytes)-4 {
		return nil, errCutRequest
	}
	read := &request{}
	if err := json.Unmarshal(bytes[4:4+size], read); err != nil {
		return nil, err
	}
	rest := bytes[4+size:]
	for i := range read.Files {
		file := &read.Files[i]
		if file.Size > len(rest) {
			return nil, errCutRequest
		}
		file.data, rest = rest[:file.Size:file.Size], rest[file.Size:]
	}
	return read, nil
}
