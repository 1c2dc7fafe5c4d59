module rukpak-ts/version-reference

go 1.26.0

require (
	github.com/Masterminds/semver/v3 v3.2.1
	github.com/blang/semver/v4 v4.0.0
)
