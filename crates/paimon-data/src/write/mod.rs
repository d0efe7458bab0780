// SPDX-License-Identifier: Apache-2.0

//! From Arrow record batches to data files and commit messages.
