package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
)

// The steps of `helm template` (pkg/cmd.runInstall, pkg/action.Install.RunWithContext and
// renderResources), in its order and with its messages. Those packages themselves bring a
// Kubernetes client, registries and a file system along.
func renderChart(asked *request) (*rendered, error) {
	values, err := mergeValues(asked.Values)
	if err != nil {
		return nil, err
	}
	loaded, err := loadChart(asked.Files)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ValidateReleaseName(asked.Release.Name); err != nil {
		return nil, fmt.Errorf("release name check failed: release name %q: %w", asked.Release.Name, err)
	}
	if err := chartutil.ProcessDependencies(loaded, values); err != nil {
		return nil, fmt.Errorf("chart dependencies processing failed: %w", err)
	}
	capabilities, err := capabilitiesOf(asked)
	if err != nil {
		return nil, err
	}
	seen, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{
		Name:      asked.Release.Name,
		Namespace: asked.Release.Namespace,
		Revision:  1,
		IsInstall: true,
	}, capabilities)
	if err != nil {
		return nil, schemaError(err)
	}
	if err := checkKubeVersion(loaded, capabilities); err != nil {
		return nil, err
	}
	helm := engine.Engine{CustomTemplateFuncs: functions(asked.Lookup)}
	texts, err := helm.RenderWithContext(context.Background(), loaded, seen)
	if err != nil {
		return nil, err
	}
	return sortRendered(loaded, texts)
}

func capabilitiesOf(asked *request) (*common.Capabilities, error) {
	version, err := common.ParseKubeVersion(asked.KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("invalid kube version '%s': %w", asked.KubeVersion, err)
	}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	capabilities.APIVersions = asked.APIVersions
	return capabilities, nil
}

func checkKubeVersion(loaded *chart.Chart, capabilities *common.Capabilities) error {
	wanted, there := loaded.Metadata.KubeVersion, capabilities.KubeVersion
	if wanted == "" || chartutil.IsCompatibleRange(wanted, there.String()) {
		return nil
	}
	return fmt.Errorf(
		"chart requires kubeVersion: %s which is incompatible with Kubernetes %s",
		wanted, there.Version,
	)
}

const notesName = "NOTES.txt"

// Takes the notes out of what was rendered; those of subcharts are dropped.
func takeNotes(loaded *chart.Chart, texts map[string]string) string {
	own := path.Join(loaded.Name(), "templates", notesName)
	notes := texts[own]
	for name := range texts {
		if strings.HasSuffix(name, notesName) {
			delete(texts, name)
		}
	}
	return notes
}
