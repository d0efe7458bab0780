// SPDX-License-Identifier: Apache-2.0

//! Progress of long work on a terminal; nothing when the output is piped.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `total` steps, or a spinner when the total is unknown. Hidden unless standard error is a terminal.
pub(crate) fn bar(total: Option<u64>, unit: &str) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    if !std::io::stderr().is_terminal() || !std::io::stdout().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        return bar;
    }
    let template = match total {
        Some(_) => format!("{{bar:30}} {{human_pos}}/{{human_len}} {unit} {{per_sec}} {{eta}}"),
        None => format!("{{spinner}} {{human_pos}} {unit} {{per_sec}} {{elapsed}}"),
    };
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}
