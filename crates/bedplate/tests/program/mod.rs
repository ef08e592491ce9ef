//! The program itself, as a person starts it.

/// Runs it to its end: exit code, what it printed, what it said.
pub(crate) fn run(arguments: &[&str]) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_bedplate");
    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    let output = std::process::Command::new(program).args(arguments).env("NO_COLOR", "1").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}
