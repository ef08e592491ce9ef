//! Gives the binary its build id: a digest of every source file and of the lock file.
//!
//! Two binaries with the same id do the same; the agent in a guest and the program outside compare theirs.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("Cargo.lock"), root.join("Cargo.toml")];
    collect(&root.join("crates"), &mut files);
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        file.strip_prefix(&root).unwrap_or(file).hash(&mut hasher);
        fs::read(file).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=BEDPLATE_BUILD={:016x}", hasher.finish());
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // Tests and their snapshots do not change what the binary does.
        if path.is_dir() && !matches!(name.as_str(), "tests" | "snapshots" | "examples") {
            collect(&path, files);
        } else if name.ends_with(".rs") || name.ends_with(".html") || name.ends_with(".css") || name == "Cargo.toml" {
            files.push(path);
        }
    }
}
