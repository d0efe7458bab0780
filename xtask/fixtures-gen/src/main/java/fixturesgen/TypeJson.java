// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.schema.Schema;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Types in the form of Paimon's schema files. */
final class TypeJson {
    private TypeJson() {}

    /** The definition of a table in the form of {@code paimon create --schema}. */
    static Map<String, Object> schema(Schema schema) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("fields", fields(schema.fields()));
        json.put("partitionKeys", schema.partitionKeys());
        json.put("primaryKeys", schema.primaryKeys());
        json.put("options", schema.options());
        json.put("comment", schema.comment());
        return json;
    }

    static Object fields(List<DataField> fields) {
        return fields.stream().map(TypeJson::field).toList();
    }

    private static Map<String, Object> field(DataField field) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", field.id());
        json.put("name", field.name());
        json.put("type", type(field.type()));
        if (field.description() != null) {
            json.put("description", field.description());
        }
        if (field.defaultValue() != null) {
            json.put("defaultValue", field.defaultValue());
        }
        return json;
    }

    private static Object type(DataType type) {
        Map<String, Object> json = new LinkedHashMap<>();
        String nullability = type.isNullable() ? "" : " NOT NULL";
        if (type instanceof ArrayType array) {
            json.put("type", "ARRAY" + nullability);
            json.put("element", type(array.getElementType()));
        } else if (type instanceof MultisetType multiset) {
            json.put("type", "MULTISET" + nullability);
            json.put("element", type(multiset.getElementType()));
        } else if (type instanceof MapType map) {
            json.put("type", "MAP" + nullability);
            json.put("key", type(map.getKeyType()));
            json.put("value", type(map.getValueType()));
        } else if (type instanceof RowType row) {
            json.put("type", "ROW" + nullability);
            json.put("fields", fields(row.getFields()));
        } else {
            return type.asSQLString();
        }
        return json;
    }
}
