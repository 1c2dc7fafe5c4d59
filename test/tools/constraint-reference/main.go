// Command constraint-reference answers what OLM's resolver makes of the properties of a bundle, and
// which candidates meet them: a JSON line of questions on stdin, a JSON line of answers on stdout.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	_ "unsafe" // for go:linkname

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/constraints"
	_ "github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver"
	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"
	"github.com/operator-framework/operator-registry/pkg/api"
)

// The resolver's own, which it does not export.
type predicateConverter struct {
	celEnv *constraints.CelEnvironment
}

//go:linkname convert github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver.(*predicateConverter).convertDependencyProperties
func convert(pc *predicateConverter, properties []*api.Property) ([]cache.Predicate, error)

type property struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type candidate struct {
	Package    string     `json:"package"`
	Version    string     `json:"version"`
	Properties []property `json:"properties"`
}

type question struct {
	Properties []property  `json:"properties"`
	Candidates []candidate `json:"candidates"`
}

type requirement struct {
	Text string `json:"text"`
	Met  []bool `json:"met"`
}

type answer struct {
	Error        string        `json:"error,omitempty"`
	Requirements []requirement `json:"requirements"`
}

func main() {
	pc := &predicateConverter{celEnv: constraints.NewCelEnvironment()}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(in)
	for decoder.More() {
		var q question
		if err := decoder.Decode(&q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(answerOf(pc, q)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func answerOf(pc *predicateConverter, q question) answer {
	predicates, err := convert(pc, ofResolver(q.Properties))
	if err != nil {
		return answer{Error: err.Error()}
	}
	a := answer{Requirements: []requirement{}}
	for _, predicate := range predicates {
		r := requirement{Text: predicate.String(), Met: []bool{}}
		for _, c := range q.Candidates {
			r.Met = append(r.Met, predicate.Test(entry(c)))
		}
		a.Requirements = append(a.Requirements, r)
	}
	return a
}

func entry(c candidate) *cache.Entry {
	e := &cache.Entry{
		SourceInfo: &cache.OperatorSourceInfo{Package: c.Package},
		Properties: ofResolver(c.Properties),
	}
	if version, err := semver.ParseTolerant(c.Version); err == nil {
		e.Version = &version
	}
	return e
}

func ofResolver(properties []property) []*api.Property {
	var all []*api.Property
	for _, p := range properties {
		all = append(all, &api.Property{Type: p.Type, Value: string(p.Value)})
	}
	return all
}
