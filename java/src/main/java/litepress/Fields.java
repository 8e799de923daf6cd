package litepress;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The columns of a record or a bean, and how their values are read. */
final class Fields {
    final List<String> columns = new ArrayList<>();
    private final List<Method> getters = new ArrayList<>();

    /** Finds the components of a record, or the getters of a bean in the order of their names. */
    Fields(Class<?> type) {
        if (type.isRecord()) {
            for (RecordComponent component : type.getRecordComponents()) {
                add(component.getAccessor(), component.getAnnotation(Column.class), component.getName());
            }
            return;
        }
        Method[] methods = type.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method method : methods) {
            String property = property(method);
            if (property != null) {
                add(method, method.getAnnotation(Column.class), property);
            }
        }
    }

    private void add(Method getter, Column column, String name) {
        getter.setAccessible(true);
        getters.add(getter);
        columns.add(column == null ? name : column.value());
    }

    /** Returns the property of a getter, or null: getName, isReady. */
    private static String property(Method method) {
        if (method.getParameterCount() > 0 || Modifier.isStatic(method.getModifiers()) || method.getDeclaringClass() == Object.class) {
            return null;
        }
        String name = method.getName();
        int start = name.startsWith("get") ? 3 : name.startsWith("is") && method.getReturnType() == boolean.class ? 2 : name.length();
        return start >= name.length() ? null : Character.toLowerCase(name.charAt(start)) + name.substring(start + 1);
    }

    /** Returns the position of a column, or -1. Names are compared as SQLite compares them. */
    int position(String column) {
        for (int at = 0; at < columns.size(); at++) {
            if (columns.get(at).equalsIgnoreCase(column)) {
                return at;
            }
        }
        return -1;
    }

    Object value(int position, Object row) {
        try {
            return getters.get(position).invoke(row);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(error.getCause());
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }
}
