package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"sigs.k8s.io/yaml"
)

// What `helm template` does with a folder before it renders: pkg/chart/loader.LoadDir, and
// checkIfInstallable and CheckDependencies of pkg/cmd and pkg/action, which need a file system and
// a Kubernetes client.
func loadChart(files []requestFile) (*chart.Chart, error) {
	if err := checkVersion(files); err != nil {
		return nil, err
	}
	kept, err := withoutIgnored(files)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(kept)
	if err != nil {
		return nil, err
	}
	if err := checkInstallable(loaded); err != nil {
		return nil, err
	}
	if loaded.Metadata.Deprecated {
		slog.Warn("this chart is deprecated")
	}
	return loaded, checkDependencies(loaded)
}

func checkVersion(files []requestFile) error {
	for _, file := range files {
		if file.Path != "Chart.yaml" {
			continue
		}
		var metadata struct {
			APIVersion string `json:"apiVersion"`
		}
		if err := yaml.Unmarshal(file.data, &metadata); err != nil {
			return fmt.Errorf("cannot load Chart.yaml: %w", err)
		}
		switch metadata.APIVersion {
		case "", chart.APIVersionV1, chart.APIVersionV2:
			return nil
		default:
			return errors.New("unsupported chart version")
		}
	}
	return nil
}

func checkInstallable(loaded *chart.Chart) error {
	switch loaded.Metadata.Type {
	case "", "application":
		return nil
	default:
		return fmt.Errorf("%s charts are not installable", loaded.Metadata.Type)
	}
}

func checkDependencies(loaded *chart.Chart) error {
	missing := []string{}
	for _, wanted := range loaded.Metadata.Dependencies {
		is := func(there *chart.Chart) bool { return there.Name() == wanted.Name }
		if !slices.ContainsFunc(loaded.Dependencies(), is) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf(
		"an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: %s",
		strings.Join(missing, ", "),
	)
}
