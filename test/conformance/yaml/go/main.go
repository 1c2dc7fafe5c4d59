// Command yaml converts documents to JSON with sigs.k8s.io/yaml: one document in base64 a line,
// one answer a line.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"

	"sigs.k8s.io/yaml"
)

type answer struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func convert(line string) (result answer) {
	text, err := base64.StdEncoding.DecodeString(line)
	if err != nil {
		return answer{Error: err.Error()}
	}
	document, err := yaml.YAMLToJSON(text)
	if err != nil {
		return answer{Error: "error converting YAML to JSON: " + err.Error()}
	}
	return answer{JSON: document}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	for lines.Scan() {
		if err := answers.Encode(convert(lines.Text())); err != nil {
			panic(err)
		}
	}
}
