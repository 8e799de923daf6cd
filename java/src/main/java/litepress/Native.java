package litepress;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The functions of liblitepress. Texts are UTF-8. src/main/c/litepress_jni.c has the other side. */
final class Native {
    static {
        load();
    }

    private Native() {}

    static native byte[] version();

    static native long begin(boolean exists, byte[] path, byte[] schema, byte[][] options, Watch progress);

    static native long table(long writer, byte[] name, byte[][] columns);

    static native byte[] column(long writer, long table, int column);

    static native void insert(long writer, long table, long[] values, byte[] texts, int textBytes, int width, int rows);

    static native void append(long writer, long table, int[] types, Object[] values, byte[][] bytes, byte[][] valid, int rows);

    static native void finish(long writer, long[] figures);

    static native void abort(long writer);

    /** Returns a text for C, where a NUL ends it: what stands behind would be cut without a word. */
    static byte[] utf8(String text) {
        if (text != null && text.indexOf(0) >= 0) {
            throw LitepressException.usage("a schema, a name or an option has a NUL character at position " + text.indexOf(0));
        }
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] utf8) {
        return utf8 == null ? null : new String(utf8, StandardCharsets.UTF_8);
    }

    static byte[][] all(String[] texts) {
        byte[][] all = new byte[texts.length][];
        for (int at = 0; at < all.length; at++) {
            all[at] = utf8(texts[at]);
        }
        return all;
    }

    /** Loads the file that the property litepress.library or LITEPRESS_JNI names, or the one in the jar. */
    private static void load() {
        String given = System.getProperty("litepress.library", System.getenv("LITEPRESS_JNI"));
        if (given != null) {
            System.load(Path.of(given).toAbsolutePath().toString());
            return;
        }
        String system = System.getProperty("os.name").split(" ")[0].toLowerCase(Locale.ROOT);
        String name = "native/" + system + "-" + System.getProperty("os.arch") + "/" + System.mapLibraryName("litepress_jni");
        try (InputStream library = Native.class.getResourceAsStream(name)) {
            if (library == null) {
                throw new UnsatisfiedLinkError("the jar has no " + name + ": build.sh makes it, LITEPRESS_JNI names another file");
            }
            Path copy = Files.createTempFile("litepress_jni", ".library");
            copy.toFile().deleteOnExit();
            Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
            System.load(copy.toString());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
