// SPDX-License-Identifier: Apache-2.0

//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TaskResult;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo that runs us, in the workspace root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs `command` with inherited output; an error names it.
pub(crate) fn run(command: &mut Command) -> TaskResult {
    let shown = shown(command);
    println!("$ {shown}");
    let status = command
        .status()
        .map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed with {status}"))
    }
}

/// Runs `command` and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = shown(command);
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot start `{shown}`: {e}"))?;
    if !out.status.success() {
        return Err(format!("`{shown}` failed with {}", out.status));
    }
    String::from_utf8(out.stdout).map_err(|e| format!("`{shown}` printed no UTF-8: {e}"))
}

/// True when `program` can be started with `argument`.
pub(crate) fn installed(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let mut parts = vec![command.get_program().to_string_lossy().into_owned()];
    parts.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    let mut text = parts.join(" ");
    if text.len() > 300 {
        text.truncate(text.floor_char_boundary(300));
        text.push('…');
    }
    text
}
