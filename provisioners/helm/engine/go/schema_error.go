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
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, " ") && len(findings) > 0 {
			findings = append(findings, orderedNames(line))
			continue
		}
		lines = append(append(lines, sortedFindings(findings, "")...), line)
		findings = nil
	}
	return strings.Join(append(lines, sortedFindings(findings, "")...), "\n")
}

// Sorts the findings of this indentation, and the further indented ones below each of them.
func sortedFindings(lines []string, indentation string) []string {
	findings := [][]string{}
	for _, line := range lines {
		if last := len(findings) - 1; last >= 0 && !strings.HasPrefix(line, indentation+"- ") {
			findings[last] = append(findings[last], line)
		} else {
			findings = append(findings, []string{line})
		}
	}
	for i, finding := range findings {
		findings[i] = append(finding[:1], sortedFindings(finding[1:], indentation+"  ")...)
	}
	slices.SortFunc(findings, slices.Compare)
	return slices.Concat(findings...)
}

func orderedNames(finding string) string {
	return unwanted.ReplaceAllStringFunc(finding, func(text string) string {
		names := strings.Split(unwanted.FindStringSubmatch(text)[1], ", ")
		slices.Sort(names)
		return "additional properties " + strings.Join(names, ", ") + " not allowed"
	})
}
