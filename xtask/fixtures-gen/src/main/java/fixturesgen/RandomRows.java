// SPDX-License-Identifier: Apache-2.0
package fixturesgen;
final class RandomRows { static void run(Args a) throws Exception {} }
