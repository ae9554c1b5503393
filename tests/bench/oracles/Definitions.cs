// Prints the definitions of calls in C#, one line for each: paths and lines, "-" for a library's, "?" if none is known.
//
//     mono Definitions.exe ROOT < calls
//
// A call is `path TAB line TAB column`; lines count from 1, columns from 0. All files of the folder are one compilation,
// with the assemblies of the runtime that the program runs on. The program needs Roslyn (Microsoft.CodeAnalysis.CSharp).

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

static class Definitions
{
    static readonly string[] Libraries =
    {
        "mscorlib", "System", "System.Core", "System.Xml", "System.Xml.Linq", "System.Data", "System.Net.Http",
        "System.Runtime.Serialization", "System.Web", "System.Configuration",
    };

    static void Main(string[] arguments)
    {
        string root = Path.GetFullPath(arguments[0]);
        var trees = new Dictionary<string, SyntaxTree>();
        foreach (string file in Directory.GetFiles(root, "*.cs", SearchOption.AllDirectories).OrderBy(each => each))
        {
            string path = file.Substring(root.Length + 1);
            trees[path] = CSharpSyntaxTree.ParseText(File.ReadAllText(file), path: path);
        }
        string folder = Path.GetDirectoryName(typeof(object).Assembly.Location);
        var references = Libraries.Select(name => Path.Combine(folder, name + ".dll")).Where(File.Exists)
            .Select(path => (MetadataReference)MetadataReference.CreateFromFile(path));
        var compilation = CSharpCompilation.Create("all", trees.Values, references);
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            string[] parts = line.Split('\t');
            SyntaxTree tree;
            string answer = trees.TryGetValue(parts[0], out tree)
                ? Answer(compilation, tree, int.Parse(parts[1]), int.Parse(parts[2])) : "?";
            Console.WriteLine(answer);
        }
    }

    static string Answer(CSharpCompilation compilation, SyntaxTree tree, int line, int column)
    {
        var text = tree.GetText();
        if (line > text.Lines.Count || column > text.Lines[line - 1].Span.Length)
            return "?";
        SyntaxToken token = tree.GetRoot().FindToken(text.Lines[line - 1].Start + column);
        SyntaxNode name = token.Parent;
        if (!(name is SimpleNameSyntax))
            return "?";
        SymbolInfo info = compilation.GetSemanticModel(tree).GetSymbolInfo(name);
        var symbols = info.Symbol != null ? new[] { info.Symbol } : info.CandidateSymbols.ToArray();
        var places = new List<string>();
        bool isKnown = false;
        foreach (ISymbol each in symbols)
        {
            ISymbol symbol = each.OriginalDefinition;
            var method = symbol as IMethodSymbol;
            if (method != null && method.ReducedFrom != null)
                symbol = method.ReducedFrom.OriginalDefinition;
            if (symbol.Kind == SymbolKind.Local || symbol.Kind == SymbolKind.Parameter)
                continue;
            isKnown = true;
            foreach (Location location in symbol.Locations.Where(place => place.IsInSource))
            {
                places.Add(location.SourceTree.FilePath);
                places.Add((location.GetLineSpan().StartLinePosition.Line + 1).ToString());
            }
        }
        return !isKnown ? "?" : places.Count == 0 ? "-" : string.Join("\t", places);
    }
}
