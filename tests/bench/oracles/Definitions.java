// Prints the definitions that javac knows for some names.
//
//   java --add-exports jdk.compiler/com.sun.tools.javac.tree=ALL-UNNAMED Definitions.java ROOT < REQUESTS > ANSWERS
//
// ROOT is a repository. REQUESTS has a line "path<tab>line<tab>column" for each name; lines count from 1, columns from
// 0. ANSWERS has a line for each: "path<tab>line" pairs joined by tabs, "-" for a library's definition, "?" if javac
// knows none. Libraries that are not here leave names unknown, and javac goes on.

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import com.sun.tools.javac.tree.JCTree;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeKind;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

public class Definitions {
    private final Path root;
    private final Trees trees;
    private final Map<String, String> answers = new HashMap<>();

    private Definitions(Path root, Trees trees) {
        this.root = root;
        this.trees = trees;
    }

    public static void main(String[] args) throws IOException {
        Path root = Path.of(args[0]).toRealPath();
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                Stream<Path> walk = Files.walk(root)) {
            // A module needs its libraries; without its description they are only unknown names.
            List<Path> files = walk.filter(each -> each.toString().endsWith(".java"))
                    .filter(each -> !each.endsWith("module-info.java")).collect(Collectors.toList());
            // Errors about missing libraries must not stop javac before it knows the other names.
            List<String> options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "1");
            Iterable<? extends JavaFileObject> sources = manager.getJavaFileObjectsFromPaths(files);
            var task = (JavacTask) compiler.getTask(null, manager, problem -> {}, options, null, sources);
            var units = new ArrayList<CompilationUnitTree>();
            task.parse().forEach(units::add);
            task.analyze();
            var definitions = new Definitions(root, Trees.instance(task));
            units.forEach(definitions::read);
            var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            requests.lines().forEach(line -> System.out.println(definitions.answers.getOrDefault(line, "?")));
        }
    }

    private void read(CompilationUnitTree unit) {
        new TreePathScanner<Void, Void>() {
            @Override
            public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
                record(unit, call.getMethodSelect(), new TreePath(getCurrentPath(), call.getMethodSelect()));
                return super.visitMethodInvocation(call, nothing);
            }

            @Override
            public Void visitNewClass(NewClassTree made, Void nothing) {
                record(unit, made.getIdentifier(), getCurrentPath());
                return super.visitNewClass(made, nothing);
            }

            @Override
            public Void visitIdentifier(IdentifierTree name, Void nothing) {
                recordUnlessCall(name);
                return super.visitIdentifier(name, nothing);
            }

            @Override
            public Void visitMemberSelect(MemberSelectTree name, Void nothing) {
                recordUnlessCall(name);
                return super.visitMemberSelect(name, nothing);
            }

            @Override
            public Void visitMemberReference(MemberReferenceTree name, Void nothing) {
                record(unit, name, getCurrentPath());
                return super.visitMemberReference(name, nothing);
            }

            /** The name of a created class means its constructor too, which was recorded above. */
            private void recordUnlessCall(Tree name) {
                if (!(getCurrentPath().getParentPath().getLeaf() instanceof NewClassTree)) {
                    record(unit, name, getCurrentPath());
                }
            }
        }.scan(unit, null);
    }

    /** Records what the element of a path means for the name that ends a tree. */
    private void record(CompilationUnitTree unit, Tree named, TreePath path) {
        int length;
        if (named instanceof MemberSelectTree) {
            length = ((MemberSelectTree) named).getIdentifier().length();
        } else if (named instanceof IdentifierTree) {
            length = ((IdentifierTree) named).getName().length();
        } else if (named instanceof MemberReferenceTree) {
            length = ((MemberReferenceTree) named).getName().length();
        } else {
            return;
        }
        long end = trees.getSourcePositions().getEndPosition(unit, named);
        Element element = trees.getElement(path);
        if (end < 0 || element == null || isLocal(element) || element.asType().getKind() == TypeKind.ERROR) {
            return;
        }
        answers.put(place(unit, end - length) + "\t" + (column(unit, end - length)), describe(element));
    }

    private static boolean isLocal(Element element) {
        return element instanceof VariableElement
                && element.getKind() != ElementKind.FIELD && element.getKind() != ElementKind.ENUM_CONSTANT;
    }

    private String describe(Element element) {
        var places = new ArrayList<String>();
        add(places, element);
        if (element.getKind() == ElementKind.CONSTRUCTOR) {
            add(places, element.getEnclosingElement()); // a caller means the class
        }
        return places.isEmpty() ? "-" : String.join("\t", places);
    }

    private void add(List<String> places, Element element) {
        TreePath path = trees.getPath(element);
        if (path != null) {
            Tree tree = path.getLeaf();
            // `pos` of a method is its name, that of a class its modifiers.
            int position = tree instanceof ClassTree
                    ? nameOf(path.getCompilationUnit(), (ClassTree) tree)
                    : ((JCTree) tree).pos;
            places.add(place(path.getCompilationUnit(), position));
        }
    }

    /** Returns where the name of a class is. */
    private int nameOf(CompilationUnitTree unit, ClassTree tree) {
        long start = trees.getSourcePositions().getStartPosition(unit, tree);
        long after = trees.getSourcePositions().getEndPosition(unit, tree.getModifiers());
        try {
            String text = unit.getSourceFile().getCharContent(true).toString();
            int found = text.indexOf(tree.getSimpleName().toString(), (int) Math.max(start, after));
            return found < 0 ? (int) start : found;
        } catch (IOException problem) {
            return (int) start;
        }
    }

    private String place(CompilationUnitTree unit, long position) {
        Path file = Path.of(unit.getSourceFile().toUri());
        return root.relativize(file) + "\t" + unit.getLineMap().getLineNumber(position);
    }

    private static long column(CompilationUnitTree unit, long position) {
        // The column of javac counts a tab as eight.
        return position - unit.getLineMap().getStartPosition(unit.getLineMap().getLineNumber(position));
    }
}
