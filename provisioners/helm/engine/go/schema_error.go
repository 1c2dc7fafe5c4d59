package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

var unwanted = regexp.MustCompile(`additional properties (.+) not allowed$`)

// The validator goes through maps, so that several findings come in another order at every call: a
// message that changes would be a change of status each time.
func orderedError(err error) error {
	if !strings.HasPrefix(err.Error(), "values don't meet the specifications of the schema") {
		return err
	}
	ordered, findings := []string{}, []string{}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			findings = append(findings, orderedNames(line))
		case strings.HasPrefix(line, " ") && len(findings) > 0:
			// Goes with the finding before it.
			findings[len(findings)-1] += "\n" + orderedNames(line)
		default:
			slices.Sort(findings)
			ordered = append(append(ordered, findings...), line)
			findings = nil
		}
	}
	slices.Sort(findings)
	return errors.New(strings.Join(append(ordered, findings...), "\n"))
}

func orderedNames(finding string) string {
	return unwanted.ReplaceAllStringFunc(finding, func(text string) string {
		names := strings.Split(unwanted.FindStringSubmatch(text)[1], ", ")
		slices.Sort(names)
		return "additional properties " + strings.Join(names, ", ") + " not allowed"
	})
}
