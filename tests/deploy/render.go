// Render the templates of a chart as Helm does: Go's own engine, with the few functions that the chart uses.
//
// usage: go run render.go VALUES.json TEMPLATES...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	var values map[string]any
	text, err := os.ReadFile(os.Args[1])
	check(err)
	check(json.Unmarshal(text, &values))
	root := template.New("chart").Option("missingkey=error")
	root.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := root.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"nindent": func(spaces int, text string) string {
			pad := strings.Repeat(" ", spaces)
			return "\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad)
		},
		"quote": func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
	})
	_, err = root.ParseFiles(os.Args[2:]...)
	check(err)
	for _, name := range os.Args[2:] {
		if strings.HasSuffix(name, ".yaml") {
			check(root.ExecuteTemplate(os.Stdout, filepath.Base(name), values))
			fmt.Println()
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
