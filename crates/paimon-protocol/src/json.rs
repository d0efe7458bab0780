// SPDX-License-Identifier: Apache-2.0

//! Splits and commit messages as JSON, for `paimon decode` and for logs. Not a format: nothing reads it back.
