// SPDX-License-Identifier: Apache-2.0

//! The race test on the local disk and on an S3-compatible server (`moto` from PyPI) that is started here.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::TaskResult;
use crate::process::{cargo, installed, root, run as run_command};

const MOTO: &str = "moto[server]==5.2.5";

/// Runs `crates/paimon/tests/race.rs` with the server's address in `PAIMON_TEST_S3`.
pub(crate) fn run() -> TaskResult {
    let server = Server::start()?;
    run_command(
        cargo()
            .args([
                "test",
                "--locked",
                "-p",
                "paimon",
                "--features",
                "s3",
                "--test",
                "race",
                "--",
                "--nocapture",
            ])
            .args(["--include-ignored"])
            .env("PAIMON_TEST_S3", &server.endpoint),
    )
}

struct Server {
    child: Child,
    endpoint: String,
}

impl Server {
    fn start() -> Result<Self, String> {
        let python = moto()?;
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|l| l.local_addr())
            .map_err(|e| e.to_string())?
            .port();
        let child = Command::new(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("moto cannot be started: {e}"))?;
        let server = Server {
            child,
            endpoint: format!("http://127.0.0.1:{port}"),
        };
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err("moto did not start within 20 s".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn moto() -> Result<PathBuf, String> {
    let venv = root().join("target").join("moto-venv");
    let python = venv.join("bin").join("python");
    if !python.exists() {
        if !installed("python3", "--version") {
            return Err("the race on S3 needs python3".to_owned());
        }
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        run_command(Command::new(&python).args(["-m", "pip", "install", "-q", MOTO]))?;
    }
    Ok(python)
}
