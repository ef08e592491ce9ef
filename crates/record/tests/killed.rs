//! A writer killed with SIGKILL again and again loses nothing that it was told is on the disk.

mod provenance;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use record::{RecordError, RunReader, RunWriter};
use terms::record::{Cell, CellKey};

use provenance::provenance;

/// Tells the victim where to write.
const DIR: &str = "BEDPLATE_TEST_VICTIM_DIR";

/// Goes on with the run in a directory.
fn resume(dir: &Path) -> Result<RunWriter, RecordError> {
    RunWriter::resume(&RunReader::open(dir)?)
}

fn cell(round: u32) -> Cell {
    Cell::begun(CellKey { round, stack: "a".into(), workload: "w".into() }, String::new(), vec![], 1)
}

/// Not a test by itself: goes on writing cells, and a line for each, until it is killed.
#[test]
#[ignore = "run by the test below"]
fn victim() -> Result<(), Box<dyn Error>> {
    let Some(dir) = std::env::var_os(DIR) else { return Ok(()) };
    let writer = resume(Path::new(&dir))?;
    let next = writer.finished().last().map_or(1, |key| key.round + 1);
    for round in next.. {
        writer.put_cell(&cell(round), &[("fio.json".to_owned(), vec![b'x'; 100_000])])?;
        writer.journal(&round)?;
    }
    Ok(())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test must kill a process that writes, and has no host")]
fn killed_writers_lose_nothing() -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let dir = home.path().join("r");
    drop(RunWriter::create(home.path(), &provenance(), "x")?);
    let mut written = 0;
    for kill in 0..12u64 {
        let mut victim = Command::new(std::env::current_exe()?)
            .args(["--exact", "victim", "--ignored", "--test-threads=1"])
            .env(DIR, &dir)
            .stdout(Stdio::null())
            .spawn()?;
        sleep(Duration::from_millis(20 + 7 * kill));
        victim.kill()?;
        victim.wait()?;

        let finished = resume(&dir)?.finished();
        let reader = RunReader::open(&dir)?;
        for line in reader.journal()? {
            let round = line.as_u64().ok_or("a line is not a round")?;
            let key = cell(u32::try_from(round)?).key;
            assert!(finished.contains(&key), "round {round} was told to be on the disk");
        }
        assert_eq!(reader.cells()?.into_iter().map(|cell| cell.key).collect::<BTreeSet<_>>(), finished);
        for attempt in reader.attempts()? {
            assert_eq!(
                reader.raw(attempt.cell.directory.as_deref().unwrap_or_default(), "fio.json")?.map(|bytes| bytes.len()),
                Some(100_000)
            );
        }
        assert!(finished.len() >= written, "nothing was lost between kills");
        written = finished.len();
    }
    assert!(written > 0, "no victim lived long enough to write");
    resume(&dir)?.seal()?;
    assert_eq!(RunReader::open(&dir)?.verify()?, [""; 0]);
    Ok(())
}
