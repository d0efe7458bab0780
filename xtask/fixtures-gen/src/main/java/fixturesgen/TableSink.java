// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

/** Takes the recipes of tables: a {@link Suite}, or what changes a recipe on its way to one. */
interface TableSink {
    /** Fills a table that is not yet created. */
    interface Recipe {
        void fill(TableWriter table) throws Exception;
    }

    /** Makes the table {@code <feature>/<name>}. */
    void table(String path, String features, Recipe recipe) throws Exception;
}
