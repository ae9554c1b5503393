// Command definitions prints the definitions that the type checker of Go knows for some names.
//
//	go run definitions.go ROOT < REQUESTS > ANSWERS
//
// ROOT is a module. REQUESTS is a JSON list of [path, line, column]; lines count from 1, columns from 0. ANSWERS has for
// each a list of [path, line]: empty for a library's definition, null if the checker knows none, or only a local variable.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type place struct {
	file   string
	line   int
	column int
}

// checker checks the packages of a module by their folder; standard packages come from their source.
type checker struct {
	root     string
	module   string
	files    *token.FileSet
	standard types.Importer
	packages map[string]*types.Package
	uses     map[place]types.Object
}

func main() {
	root, err := filepath.Abs(os.Args[1])
	fail(err)
	var requests [][3]interface{}
	fail(json.NewDecoder(os.Stdin).Decode(&requests))
	files := token.NewFileSet()
	check := &checker{root, moduleName(root), files, importer.ForCompiler(files, "source", nil),
		map[string]*types.Package{}, map[place]types.Object{}}
	folders := map[string]bool{}
	answers := make([]interface{}, len(requests))
	for number, request := range requests {
		file := filepath.Join(root, request[0].(string))
		if folder := filepath.Dir(file); !folders[folder] {
			folders[folder] = true
			check.folder(folder)
		}
		at := place{file, int(request[1].(float64)), int(request[2].(float64)) + 1}
		answers[number] = check.answer(check.uses[at])
	}
	fail(json.NewEncoder(os.Stdout).Encode(answers))
}

func fail(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func moduleName(root string) string {
	content, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	if found := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(content); found != nil {
		return string(found[1])
	}
	return ""
}

// Import makes the checker an importer: own packages are checked without their tests.
func (check *checker) Import(path string) (*types.Package, error) {
	if path != check.module && !strings.HasPrefix(path, check.module+"/") {
		return check.standard.Import(path)
	}
	if known, ok := check.packages[path]; ok {
		return known, nil
	}
	folder := filepath.Join(check.root, strings.TrimPrefix(path, check.module))
	parsed := check.parse(folder, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	for _, files := range parsed {
		check.packages[path] = check.check(path, files, nil)
		break
	}
	return check.packages[path], nil
}

// folder records what the names in the files of a folder mean, its tests included.
func (check *checker) folder(folder string) {
	relative, _ := filepath.Rel(check.root, folder)
	for name, files := range check.parse(folder, func(string) bool { return true }) {
		uses := map[*ast.Ident]types.Object{}
		check.check(filepath.ToSlash(filepath.Join(check.module, relative))+"#"+name, files, uses)
		for ident, object := range uses {
			at := check.files.Position(ident.Pos())
			check.uses[place{at.Filename, at.Line, at.Column}] = object
		}
	}
}

// parse returns the files of a folder that this system would compile, by package.
func (check *checker) parse(folder string, wanted func(string) bool) map[string][]*ast.File {
	packages := map[string][]*ast.File{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if matches, err := build.Default.MatchFile(folder, name); err != nil || !matches ||
			!strings.HasSuffix(name, ".go") || !wanted(name) {
			continue
		}
		if file, _ := parser.ParseFile(check.files, filepath.Join(folder, name), nil, 0); file != nil {
			packages[file.Name.Name] = append(packages[file.Name.Name], file)
		}
	}
	return packages
}

// check checks a package; names of modules that are not here stay unknown.
func (check *checker) check(path string, files []*ast.File, uses map[*ast.Ident]types.Object) *types.Package {
	config := types.Config{Importer: check, Error: func(error) {}, FakeImportC: true}
	checked, _ := config.Check(path, check.files, files, &types.Info{Uses: uses})
	return checked
}

func (check *checker) answer(object types.Object) interface{} {
	switch known := object.(type) {
	case *types.Func, *types.TypeName, *types.Builtin:
	case *types.Var:
		if !known.IsField() && !isOfPackage(known) {
			return nil
		}
	case *types.Const:
		if !isOfPackage(known) {
			return nil
		}
	default:
		return nil
	}
	at := check.files.Position(object.Pos())
	relative, err := filepath.Rel(check.root, at.Filename)
	if !object.Pos().IsValid() || err != nil || strings.HasPrefix(relative, "..") {
		return []int{}
	}
	return [][2]interface{}{{filepath.ToSlash(relative), at.Line}}
}

func isOfPackage(object types.Object) bool {
	return object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
}
