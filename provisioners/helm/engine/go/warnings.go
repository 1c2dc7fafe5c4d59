package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Keeps what Helm logs for its users; log.Print ends here too.
type warnings struct {
	texts []string
}

func collectWarnings() *warnings {
	collected := &warnings{texts: []string{}}
	slog.SetDefault(slog.New(collected))
	return collected
}

// Values are merged in the order of a map, which is another one at every call.
func (w *warnings) sorted() []string {
	sorted := slices.Clone(w.texts)
	slices.Sort(sorted)
	return sorted
}

func (*warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (w *warnings) Handle(_ context.Context, record slog.Record) error {
	text := &strings.Builder{}
	text.WriteString(strings.TrimSpace(record.Message))
	record.Attrs(func(attribute slog.Attr) bool {
		fmt.Fprintf(text, " %s=%v", attribute.Key, attribute.Value)
		return true
	})
	w.texts = append(w.texts, text.String())
	return nil
}

func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *warnings) WithGroup(string) slog.Handler { return w }
