// Print the definitions that the TypeScript language service knows for some names.
//
//   node definitions.js TYPESCRIPT ROOT [references] < REQUESTS > ANSWERS
//
// TYPESCRIPT is an installed package `typescript`, ROOT a repository. REQUESTS is a JSON list of [path, line, column];
// lines count from 1, columns from 0. ANSWERS has for each a list of [path, line]: empty for a library's definition,
// null if the service knows none, or only a parameter. With `references`, the names are those of definitions, and the
// answers list the lines that refer to them.
"use strict";
const fs = require("fs");
const path = require("path");

const [typescript, root] = process.argv.slice(2, 4).map((each) => path.resolve(each));
const withReferences = process.argv[4] === "references";
const ts = require(typescript);
const SOURCE = /\.(tsx?|mts|cts|jsx?|mjs|cjs)$/;
// A parameter is no definition that `usages` could list.
const UNKNOWN = new Set(["parameter", "type parameter", "label", "index", "alias", "primitive type", ""]);

function* sources(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const whole = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules" && entry.name !== ".git") yield* sources(whole);
    } else if (entry.isFile() && SOURCE.test(entry.name)) {
      yield whole;
    }
  }
}

const files = [...sources(root)];
const options = {
  allowJs: true,
  esModuleInterop: true,
  experimentalDecorators: true,
  jsx: ts.JsxEmit.Preserve,
  module: ts.ModuleKind.ESNext,
  // The only resolution that finds `./name.js` in `name.ts`, and files without an extension too.
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  target: ts.ScriptTarget.ESNext,
};
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => files,
  getScriptVersion: () => "1",
  getScriptSnapshot: (file) =>
    fs.existsSync(file) ? ts.ScriptSnapshot.fromString(fs.readFileSync(file, "utf8")) : undefined,
  getCurrentDirectory: () => root,
  getDefaultLibFileName: (own) => ts.getDefaultLibFilePath(own),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

function lineOf(file, position) {
  return file.getLineAndCharacterOfPosition(position).line + 1;
}

/** Return the lines of a definition: of its name, and for a constructor of its class too, which a caller means. */
function linesOf(definition) {
  const file = service.getProgram().getSourceFile(definition.fileName);
  const lines = [lineOf(file, definition.textSpan.start)];
  let node = definition.kind === "constructor" ? file : undefined;
  while (node) {
    if (ts.isClassLike(node)) lines.push(lineOf(file, (node.name ?? node).getStart(file)));
    node = ts.forEachChild(node, (child) =>
      child.pos <= definition.textSpan.start && definition.textSpan.start < child.end ? child : undefined,
    );
  }
  return lines;
}

/** Return whether a definition is a variable in a function or a pattern: `usages` lists only those that are functions. */
function isLocal(definition) {
  if (!/^(const|let|var|local var)$/.test(definition.kind)) return false;
  const file = service.getProgram().getSourceFile(definition.fileName);
  let node = ts.getTokenAtPosition(file, definition.textSpan.start).parent;
  if (ts.isBindingElement(node)) return true;
  if (ts.isVariableDeclaration(node) && node.initializer && ts.isFunctionLike(node.initializer)) return false;
  while (node && !ts.isFunctionLike(node)) node = node.parent;
  return node !== undefined;
}

function answer([relative, line, column]) {
  const name = path.join(root, relative);
  const file = service.getProgram().getSourceFile(name);
  if (!file) return null;
  const position = file.getPositionOfLineAndCharacter(line - 1, column);
  const found = service.getDefinitionAtPosition(name, position) ?? [];
  const known = found.filter((each) => !UNKNOWN.has(each.kind));
  // The service adds the function whose type such a variable has.
  if (!known.length || found.some(isLocal)) return null;
  const inside = known.filter((each) => each.fileName.startsWith(root + path.sep));
  return inside.flatMap((each) => linesOf(each).map((at) => [path.relative(root, each.fileName), at]));
}

function references([relative, line, column]) {
  const name = path.join(root, relative);
  const position = service.getProgram().getSourceFile(name).getPositionOfLineAndCharacter(line - 1, column);
  const found = (service.findReferences(name, position) ?? []).flatMap((each) => each.references);
  const inside = found.filter((each) => !each.isDefinition && each.fileName.startsWith(root + path.sep));
  return inside.map((each) => [
    path.relative(root, each.fileName),
    lineOf(service.getProgram().getSourceFile(each.fileName), each.textSpan.start),
  ]);
}

const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((request) => {
  try {
    return withReferences ? references(request) : answer(request);
  } catch {
    return null; // the service fails on some code; it is no oracle there
  }
});
process.stdout.write(JSON.stringify(answers));
