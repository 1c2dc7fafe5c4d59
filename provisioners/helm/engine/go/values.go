package main

import (
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// As `helm -f`: pkg/cli/values reads files and addresses, so it is of no use here.
func mergeValues(documents []valuesDocument) (map[string]any, error) {
	merged := map[string]any{}
	for _, document := range documents {
		read, err := loader.LoadValues(strings.NewReader(document.Text))
		if err != nil {
			return nil, fmt.Errorf("failed to parse %s: %w", document.Name, err)
		}
		merged = loader.MergeMaps(merged, read)
	}
	return merged, nil
}
