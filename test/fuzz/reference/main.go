// Command reference reads inputs as Go's own libraries do, for fuzz targets to compare with.
//
// A request is a byte that names the reader, the length of the input (uint32, little endian) and
// the input; an answer is the length of its JSON and the JSON: {"value": ...} or {"error": "..."}.
package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/distribution/reference"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	"sigs.k8s.io/yaml"
)

type answer struct {
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// Patterns of known_hosts take Go exponential time. The process ends with such an answer: nothing
// else stops what it does.
const (
	longest = 5 * time.Second
	givenUp = "given up"
)

var readers = map[byte]func([]byte) (any, error){
	'y': readYAML,
	'r': readReference,
	't': readTar,
	'k': readKnownHosts,
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		input := make([]byte, binary.LittleEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(in, input); err != nil {
			return
		}
		judged := make(chan answer, 1)
		go func() { judged <- judge(readers[head[0]], input) }()
		result, endless := answer{Error: givenUp}, false
		select {
		case result = <-judged:
		case <-time.After(longest):
			endless = true
		}
		text, err := json.Marshal(result)
		if err != nil {
			text, _ = json.Marshal(answer{Error: err.Error()})
		}
		length := make([]byte, 4)
		binary.LittleEndian.PutUint32(length, uint32(len(text)))
		out.Write(length)
		out.Write(text)
		out.Flush()
		if endless {
			return
		}
	}
}

func judge(read func([]byte) (any, error), input []byte) (result answer) {
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	value, err := read(input)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: value}
}

// The JSON as text: its numbers are compared as they are written.
func readYAML(input []byte) (any, error) {
	text, err := yaml.YAMLToJSON(input)
	return string(text), err
}

func readReference(input []byte) (any, error) {
	named, err := reference.ParseDockerRef(string(input))
	if err != nil {
		return nil, err
	}
	return named.String(), nil
}

type entry struct {
	Name, Type, Link, Digest string
}

// The digest is of a file's content alone.
func readTar(input []byte) (any, error) {
	entries := []entry{}
	for reader := tar.NewReader(bytes.NewReader(input)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, reader); err != nil {
			return nil, err
		}
		entries = append(entries, entry{
			Name:   header.Name,
			Type:   string([]byte{header.Typeflag}),
			Link:   header.Linkname,
			Digest: hex.EncodeToString(hash.Sum(nil)),
		})
	}
}

// The input's first line is an address and a public key in authorized_keys form; the rest is the file.
func readKnownHosts(input []byte) (any, error) {
	line, file, _ := bytes.Cut(input, []byte("\n"))
	address, encoded, _ := bytes.Cut(line, []byte(" "))
	key, _, _, _, err := ssh.ParseAuthorizedKey(encoded)
	if err != nil {
		return nil, err
	}
	path, err := os.CreateTemp("", "rukpak-fuzz-known-hosts-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(path.Name())
	if _, err := path.Write(file); err != nil {
		return nil, err
	}
	if err := path.Close(); err != nil {
		return nil, err
	}
	check, err := knownhosts.New(path.Name())
	if err != nil {
		return nil, err
	}
	remote := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 22}
	if err := check(string(address), remote, key); err != nil {
		return "refused", nil
	}
	return "trusted", nil
}
