package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

var (
	unwanted = regexp.MustCompile(`additional properties (.+) not allowed$`)
	outside  = regexp.MustCompile(`failing loading ("[^"]+"): .*`)
)

const refused = "$$ref names $1, and a chart is rendered without files and network: put it into values.schema.json itself"

// What Helm says of values that do not meet a schema, the same at every call.
func schemaError(err error) error {
	if !strings.HasPrefix(err.Error(), "values don't meet the specifications of the schema") {
		return err
	}
	return errors.New(outside.ReplaceAllString(ordered(err.Error()), refused))
}

// The validator goes through maps, so that several findings come in another order at every call: a
// message that changes would be a change of status each time.
func ordered(text string) string {
	lines, findings := []string{}, []string{}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			findings = append(findings, orderedNames(line))
		case strings.HasPrefix(line, " ") && len(findings) > 0:
			// Goes with the finding before it.
			findings[len(findings)-1] += "\n" + orderedNames(line)
		default:
			slices.Sort(findings)
			lines = append(append(lines, findings...), line)
			findings = nil
		}
	}
	slices.Sort(findings)
	return strings.Join(append(lines, findings...), "\n")
}

func orderedNames(finding string) string {
	return unwanted.ReplaceAllStringFunc(finding, func(text string) string {
		names := strings.Split(unwanted.FindStringSubmatch(text)[1], ", ")
		slices.Sort(names)
		return "additional properties " + strings.Join(names, ", ") + " not allowed"
	})
}
