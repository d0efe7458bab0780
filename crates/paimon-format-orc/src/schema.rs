// SPDX-License-Identifier: Apache-2.0

//! The types of a file as a checked tree.
