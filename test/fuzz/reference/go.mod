module rukpak-ts/fuzz-reference

go 1.26.0

require (
	github.com/distribution/reference v0.6.0
	golang.org/x/crypto v0.57.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/opencontainers/go-digest v1.0.0 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
