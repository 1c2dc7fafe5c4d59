// Command version-reference answers what the Go packages of OLM say of versions and ranges: a JSON
// line of questions on stdin, a JSON line of answers on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	masterminds "github.com/Masterminds/semver/v3"
	blang "github.com/blang/semver/v4"
)

// A question is a range with versions, or, without them, a text to be read as a version.
type question struct {
	Kind     string   `json:"kind"`
	Text     string   `json:"text"`
	Versions []string `json:"versions"`
}

// Matches has a "1" for each version in the range, and a "0" for each other one.
type answer struct {
	Version string `json:"version,omitempty"`
	Matches string `json:"matches,omitempty"`
	Error   string `json:"error,omitempty"`
}

var readers = map[string]func(question) (answer, error){
	"version":    readVersion(blang.Parse),
	"tolerant":   readVersion(blang.ParseTolerant),
	"range":      readRange,
	"constraint": readConstraint,
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	decoder, encoder := json.NewDecoder(lines), json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var asked question
		if err := decoder.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		result, err := readers[asked.Kind](asked)
		if err != nil {
			result = answer{Error: err.Error()}
		}
		if err := encoder.Encode(result); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func readVersion(parse func(string) (blang.Version, error)) func(question) (answer, error) {
	return func(asked question) (answer, error) {
		version, err := parse(asked.Text)
		return answer{Version: version.String()}, err
	}
}

func readRange(asked question) (answer, error) {
	isInRange, err := blang.ParseRange(asked.Text)
	if err != nil {
		return answer{}, err
	}
	return matches(asked.Versions, func(version blang.Version) bool { return isInRange(version) })
}

// As operator-controller turns one library's version into the other's.
func readConstraint(asked question) (answer, error) {
	constraint, err := masterminds.NewConstraint(asked.Text)
	if err != nil {
		return answer{}, err
	}
	return matches(asked.Versions, func(version blang.Version) bool {
		parts := make([]string, len(version.Pre))
		for i, part := range version.Pre {
			parts[i] = part.String()
		}
		return constraint.Check(masterminds.New(version.Major, version.Minor, version.Patch,
			strings.Join(parts, "."), strings.Join(version.Build, ".")))
	})
}

func matches(versions []string, isMatch func(blang.Version) bool) (answer, error) {
	var found strings.Builder
	for _, text := range versions {
		version, err := blang.Parse(text)
		switch {
		case err != nil:
			return answer{}, err
		case isMatch(version):
			found.WriteByte('1')
		default:
			found.WriteByte('0')
		}
	}
	return answer{Matches: found.String()}, nil
}
