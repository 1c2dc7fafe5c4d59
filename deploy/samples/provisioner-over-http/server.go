// Class acme-template: the objects of templates/*.json, filled in from values.json and spec.config.
package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

const class = `{"contractVersion": 1, "className": "acme-template", "handlers": ["bundle", "deployment"]}`

func main() {
	http.HandleFunc("GET /v1/class", func(answer http.ResponseWriter, _ *http.Request) {
		send(answer, http.StatusOK, json.RawMessage(class))
	})
	http.HandleFunc("POST /v1/{handler}", handle)
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	os.Exit(1)
}

func handle(answer http.ResponseWriter, request *http.Request) {
	files, paths, err := content(request.Body)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	objects, err := render(files, paths)
	switch {
	case err != nil:
		send(answer, http.StatusUnprocessableEntity, map[string]string{"message": "missing or wrong: " + err.Error()})
	case request.PathValue("handler") == "bundle":
		answer.WriteHeader(http.StatusNoContent)
	default:
		send(answer, http.StatusOK, objects)
	}
}

// What was sent, by path, and the paths in order.
func content(body io.Reader) (map[string][]byte, []string, error) {
	files, paths := map[string][]byte{}, []string{}
	for archive := tar.NewReader(body); ; {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, body)
			return files, paths, err
		}
		if err != nil {
			return nil, nil, err
		}
		if entry.Typeflag == tar.TypeReg {
			if files[entry.Name], err = io.ReadAll(archive); err != nil {
				return nil, nil, err
			}
			paths = append(paths, entry.Name)
		}
	}
}

func render(files map[string][]byte, paths []string) ([]json.RawMessage, error) {
	var deployment struct {
		Spec struct{ Config map[string]any }
	}
	if err := json.Unmarshal(files["object.json"], &deployment); err != nil {
		return nil, err
	}
	given, found := files["content/values.json"]
	if !found {
		return nil, errors.New("'content/values.json'")
	}
	values := map[string]any{}
	if err := json.Unmarshal(given, &values); err != nil {
		return nil, err
	}
	if values == nil {
		return nil, errors.New("values.json is no object")
	}
	for name, value := range deployment.Spec.Config {
		values[name] = value
	}
	objects := []json.RawMessage{}
	for _, path := range paths {
		if strings.HasPrefix(path, "content/templates/") {
			object, err := fill(string(files[path]), values)
			if err != nil {
				return nil, err
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func fill(template string, values map[string]any) (json.RawMessage, error) {
	var missing error
	text := os.Expand(template, func(name string) string {
		value, found := values[name]
		if !found && missing == nil {
			missing = fmt.Errorf("'%s'", name)
		}
		return fmt.Sprint(value)
	})
	if missing != nil {
		return nil, missing
	}
	var object struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
	}
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return nil, err
	}
	if object.APIVersion == "" || object.Kind == "" || object.Metadata.Name == "" {
		return nil, errors.New("an object without apiVersion, kind or name")
	}
	return json.RawMessage(text), nil
}

func send(answer http.ResponseWriter, status int, value any) {
	body, _ := json.Marshal(value)
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Content-Length", fmt.Sprint(len(body)))
	answer.WriteHeader(status)
	answer.Write(body)
}
