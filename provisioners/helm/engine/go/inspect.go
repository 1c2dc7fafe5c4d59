package main

type chartFacts struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	AppVersion   string            `json:"appVersion,omitempty"`
	Description  string            `json:"description,omitempty"`
	KubeVersion  string            `json:"kubeVersion,omitempty"`
	Deprecated   bool              `json:"deprecated"`
	Dependencies []chartDependency `json:"dependencies"`
}

type chartDependency struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Repository string `json:"repository,omitempty"`
	Alias      string `json:"alias,omitempty"`
}

func inspectChart(asked *request) (*chartFacts, error) {
	loaded, err := loadChart(asked.Files)
	if err != nil {
		return nil, err
	}
	metadata := loaded.Metadata
	facts := &chartFacts{
		Name:         metadata.Name,
		Version:      metadata.Version,
		AppVersion:   metadata.AppVersion,
		Description:  metadata.Description,
		KubeVersion:  metadata.KubeVersion,
		Deprecated:   metadata.Deprecated,
		Dependencies: []chartDependency{},
	}
	for _, wanted := range metadata.Dependencies {
		facts.Dependencies = append(facts.Dependencies, chartDependency{
			Name:       wanted.Name,
			Version:    wanted.Version,
			Repository: wanted.Repository,
			Alias:      wanted.Alias,
		})
	}
	return facts, nil
}
