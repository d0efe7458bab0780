// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;

/** What only some versions of Paimon have; this program is compiled with one and run with others. */
final class Newer {
    private Newer() {}

    static boolean has(String className) {
        try {
            Class.forName(className);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    static boolean hasField(Class<?> type, String name) {
        return Arrays.stream(type.getFields()).anyMatch(field -> field.getName().equals(name));
    }

    /** A new object; the last argument is left out where the constructor does not know it yet. */
    @SuppressWarnings("unchecked")
    static <T> T create(Class<T> type, Object... args) throws Exception {
        Executable constructor = find(Arrays.stream(type.getConstructors()), args);
        return (T) call(() -> ((Constructor<?>) constructor).newInstance(cut(constructor, args)));
    }

    /** As {@link #create}, by a static method. */
    static Object invoke(Class<?> type, String name, Object... args) throws Exception {
        Executable method = find(Arrays.stream(type.getMethods()).filter(m -> m.getName().equals(name)), args);
        return call(() -> ((Method) method).invoke(null, cut(method, args)));
    }

    /** The value of a getter, or the fallback where there is no such getter yet. */
    static Object get(Object object, String getter, Object fallback) throws Exception {
        try {
            Method method = object.getClass().getMethod(getter);
            method.setAccessible(true);
            return call(() -> method.invoke(object));
        } catch (NoSuchMethodException e) {
            return fallback;
        }
    }

    private static Executable find(Stream<? extends Executable> candidates, Object[] args) {
        return candidates
                .filter(e -> e.getParameterCount() == args.length || e.getParameterCount() == args.length - 1)
                .filter(e -> accepts(e.getParameterTypes(), args))
                .max(java.util.Comparator.comparingInt(Executable::getParameterCount))
                .orElseThrow(() -> new IllegalStateException("nothing takes " + Arrays.toString(args)));
    }

    private static boolean accepts(Class<?>[] types, Object[] args) {
        for (int i = 0; i < types.length; i++) {
            if (args[i] != null && !types[i].isPrimitive() && !types[i].isInstance(args[i])) {
                return false;
            }
        }
        return true;
    }

    private static Object[] cut(Executable executable, Object[] args) {
        return Arrays.copyOf(args, executable.getParameterCount());
    }

    private interface Call {
        Object run() throws ReflectiveOperationException;
    }

    private static Object call(Call call) throws Exception {
        try {
            return call.run();
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
