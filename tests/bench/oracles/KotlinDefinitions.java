// Prints the definitions that the compiler of Kotlin knows for some names, also those in files of Java.
//
//   java -cp COMPILER:STDLIB KotlinDefinitions.java STDLIB ROOT < REQUESTS > ANSWERS
//
// COMPILER is a jar with the compiler, STDLIB that of the library. Requests and answers are those of Definitions.java.
// Libraries that are not here leave names unknown, and the compiler goes on.

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jetbrains.kotlin.cli.FrontendConfigurationKeysKt;
import org.jetbrains.kotlin.cli.common.config.ContentRootsKt;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.EnvironmentConfigFiles;
import org.jetbrains.kotlin.cli.jvm.compiler.KotlinCoreEnvironment;
import org.jetbrains.kotlin.cli.jvm.compiler.NoScopeRecordCliBindingTrace;
import org.jetbrains.kotlin.cli.jvm.compiler.TopDownAnalyzerFacadeForJVM;
import org.jetbrains.kotlin.cli.jvm.config.JvmContentRootsKt;
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.com.intellij.psi.PsiElement;
import org.jetbrains.kotlin.com.intellij.psi.PsiFile;
import org.jetbrains.kotlin.com.intellij.psi.PsiNameIdentifierOwner;
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar;
import org.jetbrains.kotlin.config.ApiVersion;
import org.jetbrains.kotlin.config.CommonConfigurationKeys;
import org.jetbrains.kotlin.config.CommonConfigurationKeysKt;
import org.jetbrains.kotlin.config.CompilerConfiguration;
import org.jetbrains.kotlin.config.LanguageVersion;
import org.jetbrains.kotlin.config.LanguageVersionSettingsImpl;
import org.jetbrains.kotlin.descriptors.ClassDescriptor;
import org.jetbrains.kotlin.descriptors.ConstructorDescriptor;
import org.jetbrains.kotlin.descriptors.DeclarationDescriptor;
import org.jetbrains.kotlin.descriptors.ValueParameterDescriptor;
import org.jetbrains.kotlin.descriptors.impl.LocalVariableDescriptor;
import org.jetbrains.kotlin.psi.KtFile;
import org.jetbrains.kotlin.psi.KtReferenceExpression;
import org.jetbrains.kotlin.resolve.BindingContext;
import org.jetbrains.kotlin.resolve.DescriptorToSourceUtils;

public class KotlinDefinitions {
    // Source sets of other platforms define the same names again.
    private static final Pattern OTHER_PLATFORM = Pattern.compile("/src/(?!common|jvm|main|test|android)\\w+(Main|Test)/");

    private final Path root;
    private final BindingContext context;
    private final Map<String, KtFile> files = new HashMap<>();

    private KotlinDefinitions(Path root, List<KtFile> files, BindingContext context) {
        this.root = root;
        this.context = context;
        files.forEach(file -> this.files.put(relative(file), file));
    }

    public static void main(String[] args) throws IOException {
        Path root = Path.of(args[1]).toRealPath();
        var configuration = new CompilerConfiguration();
        configuration.put(CommonConfigurationKeys.MODULE_NAME, "all");
        configuration.put(CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
        // The older of the two compilers in one: it knows all names that it can, whatever is missing.
        CommonConfigurationKeysKt.setLanguageVersionSettings(
                configuration, new LanguageVersionSettingsImpl(LanguageVersion.KOTLIN_1_9, ApiVersion.KOTLIN_1_9));
        FrontendConfigurationKeysKt.setExtensionsStorage(configuration, new CompilerPluginRegistrar.ExtensionStorage());
        try (Stream<Path> walk = Files.walk(root)) {  // scripts would need the libraries of their builds
            walk.filter(each -> each.toString().endsWith(".kt") && !OTHER_PLATFORM.matcher(each.toString()).find())
                    .forEach(each -> ContentRootsKt.addKotlinSourceRoot(configuration, each.toString()));
        }
        JvmContentRootsKt.addJvmClasspathRoot(configuration, new File(args[0]));
        JvmContentRootsKt.addJavaSourceRoot(configuration, root.toFile(), null);
        var environment = KotlinCoreEnvironment.Companion.createForProduction(
                Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        var trace = new NoScopeRecordCliBindingTrace(environment.getProject());
        TopDownAnalyzerFacadeForJVM.analyzeFilesWithJavaIntegration(
                environment.getProject(), environment.getSourceFiles(), trace, configuration,
                environment::createPackagePartProvider);
        var definitions = new KotlinDefinitions(root, environment.getSourceFiles(), trace.getBindingContext());
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] parts = line.split("\t");
            System.out.println(definitions.answer(parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2])));
        }
        System.exit(0);  // the compiler leaves threads behind
    }

    private String answer(String path, int line, int column) {
        KtFile file = files.get(path);
        PsiElement element = file == null ? null : file.findElementAt(start(file.getText(), line) + column);
        if (element == null || !(element.getParent() instanceof KtReferenceExpression)) {
            return "?";
        }
        DeclarationDescriptor target = context.get(BindingContext.REFERENCE_TARGET, (KtReferenceExpression) element.getParent());
        if (target == null || target instanceof ValueParameterDescriptor || target instanceof LocalVariableDescriptor) {
            return "?";
        }
        List<String> places = new ArrayList<>();
        addPlace(target, places);
        if (target instanceof ConstructorDescriptor) {
            addPlace(target.getContainingDeclaration(), places);
        } else if (target instanceof ClassDescriptor && ((ClassDescriptor) target).isCompanionObject()) {
            // `Name(x)` is the class to a reader, also if its companion is what is called.
            addPlace(target.getContainingDeclaration(), places);
        }
        return places.isEmpty() ? "-" : String.join("\t", places);
    }

    private void addPlace(DeclarationDescriptor target, List<String> places) {
        PsiElement source = DescriptorToSourceUtils.descriptorToDeclaration(target);
        PsiFile file = source == null ? null : source.getContainingFile();
        if (file == null || file.getVirtualFile() == null || !Path.of(file.getVirtualFile().getPath()).startsWith(root)) {
            return;
        }
        PsiElement name = source instanceof PsiNameIdentifierOwner ? ((PsiNameIdentifierOwner) source).getNameIdentifier() : null;
        int offset = (name != null ? name : source).getTextOffset();
        places.add(relative(file));
        places.add(String.valueOf(1 + file.getText().substring(0, offset).chars().filter(each -> each == '\n').count()));
    }

    private String relative(PsiFile file) {
        return root.relativize(Path.of(file.getVirtualFile().getPath())).toString();
    }

    private static int start(String text, int line) {
        int start = 0;
        for (int number = 1; number < line; number++) {
            start = text.indexOf('\n', start) + 1;
        }
        return start;
    }
}
