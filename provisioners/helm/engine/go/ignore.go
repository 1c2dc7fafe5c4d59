package main

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/ignore"
)

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// As Helm's loader walks a folder: in the order of names, folder by folder, and without what
// .helmignore names.
func withoutIgnored(files []requestFile) ([]*archive.BufferedFile, error) {
	rules, err := ignoreRules(files)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(files)
	slices.SortFunc(sorted, func(a, b requestFile) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	kept := []*archive.BufferedFile{}
	for _, file := range sorted {
		if isIgnored(rules, file.Path) {
			continue
		}
		data := bytes.TrimPrefix(file.data, byteOrderMark)
		kept = append(kept, &archive.BufferedFile{Name: file.Path, Data: data})
	}
	return kept, nil
}

func ignoreRules(files []requestFile) (*ignore.Rules, error) {
	rules := ignore.Empty()
	for _, file := range files {
		if file.Path != ignore.HelmIgnore {
			continue
		}
		parsed, err := ignore.Parse(bytes.NewReader(file.data))
		if err != nil {
			return nil, err
		}
		rules = parsed
	}
	rules.AddDefaults()
	return rules, nil
}

func isIgnored(rules *ignore.Rules, path string) bool {
	for end := range len(path) {
		if path[end] == '/' && rules.Ignore(path[:end], entry{name: path[:end], folder: true}) {
			return true
		}
	}
	return rules.Ignore(path, entry{name: path})
}

// As much of a file as rules look at.
type entry struct {
	name   string
	folder bool
}

func (e entry) Name() string     { return e.name[strings.LastIndexByte(e.name, '/')+1:] }
func (entry) Size() int64        { return 0 }
func (entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool      { return e.folder }
func (entry) Sys() any           { return nil }
func (e entry) Mode() fs.FileMode {
	if e.folder {
		return fs.ModeDir
	}
	return 0
}
