// SPDX-License-Identifier: Apache-2.0
package fixturesgen;
final class RandomTables { static void run(Args a) throws Exception {} }
