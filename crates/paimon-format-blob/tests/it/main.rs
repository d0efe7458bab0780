// SPDX-License-Identifier: Apache-2.0

//! Blob files through the interface.
