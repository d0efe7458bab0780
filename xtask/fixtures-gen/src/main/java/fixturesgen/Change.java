// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.GenericRow;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;

/** A row of plain Java values with its kind, for a table with primary keys. */
record Change(RowKind kind, Object[] values) {
    static Change add(Object... values) {
        return new Change(RowKind.INSERT, values);
    }

    static Change before(Object... values) {
        return new Change(RowKind.UPDATE_BEFORE, values);
    }

    static Change after(Object... values) {
        return new Change(RowKind.UPDATE_AFTER, values);
    }

    static Change delete(Object... values) {
        return new Change(RowKind.DELETE, values);
    }

    GenericRow internal(RowType type) {
        GenericRow row = Values.internalRow(type, values);
        row.setRowKind(kind);
        return row;
    }
}
