//! One cell on several hosts at once, by fio's own client and server.
//!
//! Every host runs fio as a server. fio on the first one is the client of all: it gives each its job, the word to begin,
//! and collects what they say and log. fio takes tenths of a second to get its jobs going, and not the same on every
//! host, so each job waits for a moment that is the same for all. Each host is then judged as if it had been alone: its
//! drives, its processors, its own clock. Bytes and operations of all hosts together are the cell's; what each did stands
//! beside them.

mod answer;
mod merge;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use host::{Host, HostError};
use terms::record::{Cell, GuardNote};
use terms::{Cmd, Guard, Nanos, Outcome};

use crate::cell::{Around, RawFiles, check_request, conclude, named, prepare, raw_files};
use crate::counters;
use crate::error::MeasureError;
use crate::gate::{Observed, Ran, conclude as observed, watching};
use crate::job::{self, Job};
use crate::longer::{EXTENDED, Times};
use crate::on::On;
use crate::request::{CellRequest, Companion, Measured};
use crate::resync;
use crate::watch::Watched;
use crate::workplace::Workplace;

/// The port that fio's servers listen on: fio's own.
const PORT: u16 = 8765;
/// Where a server notes its process, in its workplace.
const PID: &str = "server.pid";
/// How long a server may take to listen.
const PATIENCE: Nanos = Nanos::seconds(10);
/// Share of their windows that hosts must have in common, or the cell is of hosts one after another. Each is under load
/// before its window begins, so what is missing is the end, where one was alone: at most a quarter of its figure.
const COMMON: f64 = 0.75;
/// Below this the number says so. What is missing above it may be the log, whose lines are 100 ms apart.
const NEARLY_ALL: f64 = 0.9;
/// From when the jobs are handed out to when all begin: longer than fio takes to get going, also under emulation.
const START: Nanos = Nanos::seconds(5);
/// Where the wait for that moment is written down, in each host's workplace.
const WAIT: &str = "wait.sh";

/// One of the hosts.
struct Party<'a> {
    /// From 1.
    number: u8,
    host: &'a dyn Host,
    address: &'a str,
    request: CellRequest<'a>,
}

/// Runs one cell on all of its hosts.
pub(crate) fn measure(host: &dyn Host, request: &CellRequest<'_>) -> Result<Measured, MeasureError> {
    let start = Instant::now();
    let parties = match parties(host, request) {
        Ok(parties) => parties,
        Err(why) => return Ok(Measured::failed(request, why)),
    };
    for party in &parties {
        check_request(&party.request)?;
        counters::settle_writes(party.host)?;
    }
    let mut around = Vec::new();
    for party in &parties {
        around.push(Around::before(party.host, &party.request)?);
    }
    let mut window = request.window();
    let mut run = match Run::of(&parties, window)? {
        Ok(run) => run,
        Err(why) => return Ok(Measured::failed(request, why)),
    };
    let mut windows = vec![run.raw()];
    let mut extended = run.outcome.ok() && run.unsteady() && window >= EXTENDED;
    if extended {
        match Run::of(&parties, Nanos(window.0 * 2))? {
            Ok(longer) => {
                window = Nanos(window.0 * 2);
                windows.push(longer.raw());
                run = longer;
            }
            Err(_) => extended = false,
        }
    }
    let (apart, late) = (apart(&run.windows()), run.late());
    let Run { outcome, clients, jobs, argv, .. } = run;
    let mut cells = Vec::new();
    for (((party, around), job), observed) in parties.iter().zip(around).zip(&jobs).zip(clients) {
        let around = around.after(party.host, &party.request, &observed)?;
        cells.push((party.number, conclude(&party.request, job, observed, around, window)));
    }
    let whole = answer::whole(&outcome.stdout).map(|sum| crate::fio::in_window(sum, request.workload.block));
    let begun = Cell::begun(request.key.clone(), request.started.clone(), argv, request.seed);
    let cell = merge::merge(Cell { status: outcome.status, extended, ..begun }, cells, &late, whole, apart);
    Ok(Measured { cell: Cell { took: start.elapsed().into(), ..cell }, raw: named(windows) })
}

/// The hosts of a cell, the first one first; or which of them there is not.
fn parties<'a>(host: &'a dyn Host, request: &CellRequest<'a>) -> Result<Vec<Party<'a>>, String> {
    let wanted = usize::from(request.workload.hosts.0);
    let others = request.others.iter().take(wanted - 1);
    let address = request.address.ok_or(
        "it is for several hosts, and no network connects this one with others: only a lab with remote drives has one",
    )?;
    let first = Party { number: 1, host, address, request: request.clone() };
    let other = |(number, of): (u8, &Companion<'a>)| {
        let request = CellRequest { filled: of.filled, drives: of.drives, ..request.clone() };
        Party { number, host: of.host, address: of.address, request }
    };
    let all: Vec<Party<'a>> = std::iter::once(first).chain((2..).zip(others).map(other)).collect();
    if all.len() < wanted {
        return Err(format!("{wanted} hosts were asked for, and there are {}", all.len()));
    }
    Ok(all)
}

/// A run on all hosts.
struct Run {
    outcome: Outcome,
    argv: Vec<String>,
    jobs: Vec<Job>,
    /// What was seen of each, on its own clock.
    clients: Vec<Observed>,
    /// Each host's clock against that of the first.
    clocks: Vec<i128>,
}

/// A run, or why there was none.
type Tried<T> = Result<Result<T, String>, MeasureError>;

impl Run {
    fn of(parties: &[Party<'_>], window: Nanos) -> Tried<Self> {
        for party in parties {
            if let Some(why) = resync::restart(party.host, party.request.resyncs)? {
                return Ok(Err(format!("host {}: {why}", party.number)));
            }
        }
        let prepared = parties
            .iter()
            .map(|party| Ok(prepare(&party.request, Times { window, ..Times::of(&party.request) })?.served()));
        let jobs: Vec<Job> = prepared.collect::<Result<_, MeasureError>>()?;
        let places: Vec<Workplace<'_>> =
            parties.iter().map(|party| Workplace::new(party.host)).collect::<Result<_, HostError>>()?;
        for ((party, place), job) in parties.iter().zip(&places).zip(&jobs) {
            place.admit(job, On::Writable(&party.request.filled.on))?;
        }
        let servers = match Servers::start(parties, &places)? {
            Ok(servers) => servers,
            Err(why) => return Ok(Err(why)),
        };
        let clocks = clocks(parties)?;
        let begin = i128::from(parties[0].host.now()?.0 + START.0);
        for ((party, place), clock) in parties.iter().zip(&places).zip(&clocks) {
            party.host.write(&place.path(WAIT), wait(begin + clock).as_bytes())?;
        }
        let argv = client(parties, &places[0], &jobs)?;
        let expected = jobs.iter().map(|job| job.expected).max().unwrap_or_default();
        let cmd = places[0].command(&argv).limit(Nanos(expected.0 + Nanos::seconds(300).0));
        let begun = times(parties)?;
        let ran = run_watched(parties, &cmd, window);
        servers.stop()?;
        let (outcome, watched) = ran?;
        let ended = times(parties)?;
        let answers = answer::by_host(&outcome.stdout);
        let mut clients = Vec::new();
        for ((((party, job), watched), begun), ended) in parties.iter().zip(&jobs).zip(watched).zip(begun).zip(ended) {
            let stdout = answers.get(party.address).cloned().unwrap_or_default();
            clients.push(observed(Ran {
                workload: party.request.workload,
                outcome: Outcome { stdout, ..outcome.clone() },
                watched,
                lifetime: (begun, ended),
                logs: take_logs(parties[0].host, &places[0], job, party.address)?,
                aligned: job::aligns(&party.request.filled.version),
                window,
            }));
        }
        Ok(Ok(Self { outcome, argv, jobs, clients, clocks }))
    }

    fn unsteady(&self) -> bool {
        self.clients.iter().any(Observed::unsteady)
    }

    /// Raw files of all hosts, each with its number.
    fn raw(&self) -> RawFiles {
        let each = (1..).zip(self.jobs.iter().zip(&self.clients));
        let of_hosts = each.flat_map(|(number, (job, observed)): (u8, _)| {
            raw_files(job, observed).into_iter().map(move |(name, bytes)| (format!("host-{number}-{name}"), bytes))
        });
        let (json, words) = answer::split(&self.outcome.stdout);
        of_hosts.chain([("fio.json".to_owned(), json), ("fio.txt".to_owned(), words)]).collect()
    }

    /// When each host's window began and ended, on the first one's clock: from the first line of its log on, as long as
    /// fio says. `None` where its log is not on the machine's clock, or there is none.
    fn windows(&self) -> Vec<Option<(i128, i128)>> {
        let one = |(observed, clock): (&Observed, &i128)| {
            let reading = crate::fio::parse(&observed.outcome.stdout).ok()?.reading;
            let took = reading.flows().map(|flow| flow.runtime).max()?;
            let from = i128::from(observed.log.begun.0) - clock;
            (observed.log.lines > 0 && observed.aligned).then(|| (from, from + i128::from(took.0)))
        };
        self.clients.iter().zip(&self.clocks).map(one).collect()
    }

    /// By how many samples each host's begin later than the earliest.
    fn late(&self) -> Vec<usize> {
        let starts = self.clients.iter().zip(&self.clocks).map(|(of, clock)| i128::from(of.log.start.0) - clock);
        let starts: Vec<i128> = starts.collect();
        let earliest = starts.iter().copied().min().unwrap_or(0);
        let step = i128::from(self.clients.first().map_or(1, |of| of.log.step.0.max(1)));
        let late = |start: &i128| usize::try_from((start - earliest + step / 2) / step).unwrap_or(0);
        starts.iter().map(late).collect()
    }
}

/// A guard where the windows of the hosts were not the same stretch of time, or nobody can tell.
fn apart(windows: &[Option<(i128, i128)>]) -> Option<GuardNote> {
    let note = |witness: String, voids| GuardNote { guard: Guard::Together, witness, voids };
    let Some(known) = windows.iter().copied().collect::<Option<Vec<_>>>() else {
        return Some(note("a host's log does not tell when its window was".to_owned(), false));
    };
    let common = common(&known)?;
    let witness = format!("the hosts worked at the same time in {:.0} % of their windows", common * 100.0);
    (common < NEARLY_ALL).then(|| note(witness, common < COMMON))
}

/// The share of the longest window that all have in common; `None` where there are not two.
#[expect(clippy::cast_precision_loss, reason = "windows are shorter than 2^53 ns, which are 104 days")]
fn common(windows: &[(i128, i128)]) -> Option<f64> {
    let from = windows.iter().map(|window| window.0).max()?;
    let to = windows.iter().map(|window| window.1).min()?;
    let longest = windows.iter().map(|window| window.1 - window.0).max().filter(|_| windows.len() > 1)?;
    Some(((to - from).max(0) as f64) / (longest.max(1) as f64))
}

/// A script that waits for a moment of the host's monotonic clock, in nanoseconds; not at all where that has passed.
/// `/proc/uptime` has seconds with two digits behind the point (proc(5)), of a clock that also counts sleep, which
/// machines that measure do not.
fn wait(moment: i128) -> String {
    let hundredths = moment / 10_000_000;
    format!(
        "read -r now rest < /proc/uptime\n\
         left=$(({hundredths} - ${{now%.*}} * 100 - 1${{now#*.}} + 100))\n\
         [ $left -le 0 ] || sleep $((left / 100)).$(printf %02d $((left % 100)))\n"
    )
}

/// What every host's clock says, read one after the other.
fn times(parties: &[Party<'_>]) -> Result<Vec<Nanos>, HostError> {
    parties.iter().map(|party| party.host.now()).collect()
}

/// How far each host's clock is ahead of the first one's, in nanoseconds: exact to the time that asking takes.
fn clocks(parties: &[Party<'_>]) -> Result<Vec<i128>, HostError> {
    let base = Instant::now();
    let readings = parties.iter().map(|party| {
        let before = base.elapsed();
        let now = party.host.now()?;
        let middle = (before + base.elapsed()) / 2;
        Ok(i128::from(now.0) - i128::try_from(middle.as_nanos()).unwrap_or(0))
    });
    let readings: Vec<i128> = readings.collect::<Result<_, HostError>>()?;
    let first = readings.first().copied().unwrap_or(0);
    Ok(readings.into_iter().map(|reading| reading - first).collect())
}

/// Leaves every host's job on the first one and gives the command that hands them out.
fn client(parties: &[Party<'_>], place: &Workplace<'_>, jobs: &[Job]) -> Result<Vec<String>, HostError> {
    let mut argv = vec!["fio".to_owned(), "--output-format=json+".to_owned(), "--eta=never".to_owned()];
    for (party, job) in parties.iter().zip(jobs) {
        let file = format!("host-{}.fio", party.number);
        parties[0].host.write(&place.path(&file), job.file().as_bytes())?;
        argv.extend([format!("--client={}", party.address), file]);
    }
    Ok(argv)
}

/// Runs the client and reads the counters of all hosts meanwhile.
fn run_watched(parties: &[Party<'_>], cmd: &Cmd, window: Nanos) -> Result<(Outcome, Vec<Watched>), HostError> {
    let over = AtomicBool::new(false);
    let first = &parties[0];
    thread::scope(|scope| {
        let over = &over;
        let host = first.host;
        let client = scope.spawn(move || {
            let outcome = host.run(cmd);
            over.store(true, Ordering::Relaxed);
            outcome
        });
        let watches = parties[1..].iter().map(|party| watching(party.host, &party.request, window));
        let others: Vec<_> = watches.map(|watch| scope.spawn(move || watch.until(over, &|_, _| ()))).collect();
        let mut watched = vec![watching(host, &first.request, window).until(over, first.request.watch)?];
        for other in others {
            watched.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        let outcome = client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((outcome, watched))
    })
}

/// fio's servers, one on each host: and where each notes its process.
/// What of them was not ended ends with this value.
struct Servers<'a>(Vec<(&'a dyn Host, String)>);

impl<'a> Servers<'a> {
    fn start(parties: &[Party<'a>], places: &[Workplace<'_>]) -> Tried<Self> {
        for party in parties {
            // A client would talk to whoever listens there.
            if !await_port(party.host, false)? {
                return Ok(Err(format!("host {}: a program listens on fio's port {PORT}", party.number)));
            }
        }
        let servers = Self(parties.iter().zip(places).map(|(party, place)| (party.host, place.path(PID))).collect());
        for ((party, place), (_, pid)) in parties.iter().zip(places).zip(&servers.0) {
            let server = format!("--server=ip:{},{PORT}", party.address);
            party.host.run_ok(&place.command(&["fio", &server, &format!("--daemonize={pid}")]))?;
        }
        for party in parties {
            // A client that comes too early is refused, and goes on without.
            if !await_port(party.host, true)? {
                servers.stop()?;
                return Ok(Err(format!("host {}: fio's server did not listen within {PATIENCE}", party.number)));
            }
        }
        Ok(Ok(servers))
    }

    /// Ends all of them, and waits until nobody listens any more: the next ones take the same port.
    fn stop(mut self) -> Result<(), HostError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), HostError> {
        let servers = std::mem::take(&mut self.0);
        for (host, pid) in &servers {
            host.run(&Cmd::new(["sh", "-c", "kill \"$(cat \"$1\")\"", "sh", pid]))?;
        }
        for (host, pid) in &servers {
            if !await_port(*host, false)? {
                host.run(&Cmd::new(["sh", "-c", "kill -9 \"$(cat \"$1\")\"", "sh", pid]))?;
            }
        }
        Ok(())
    }
}

impl Drop for Servers<'_> {
    fn drop(&mut self) {
        // Something else has failed before, and is told.
        let _ = self.end();
    }
}

/// Waits until something listens on the servers' port, or nothing does any more; says whether it came to that.
fn await_port(host: &dyn Host, listening: bool) -> Result<bool, HostError> {
    let start = Instant::now();
    while listens(&host.read_text("/proc/net/tcp")?) != listening {
        if Nanos::from(start.elapsed()) > PATIENCE {
            return Ok(false);
        }
        thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok(true)
}

/// A line of `/proc/net/tcp`: number, local address and port in hexadecimal, remote ones, state; 0A listens
/// (Documentation/networking/proc_net_tcp.rst).
fn listens(table: &str) -> bool {
    let port = format!(":{PORT:04X}");
    table.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(&port)) && fields.nth(1) == Some("0A")
    })
}

/// A host's logs, which the client has, of every job one, with the host's address behind it: of all jobs together, as
/// fio would write them into one file.
fn take_logs(client: &dyn Host, place: &Workplace<'_>, job: &Job, address: &str) -> Result<[Vec<u8>; 2], HostError> {
    let read = |kind: &str| {
        let begin = job.log(kind);
        let begin = begin.trim_end_matches("log");
        Ok::<_, HostError>(client.run(&place.command(&["sh", "-c", CAT, "sh", begin, address]))?.stdout)
    };
    Ok([read("bw")?, read("lat")?])
}

/// All jobs' logs that begin with `$1`, of host `$2`.
const CAT: &str = "cat -- \"$1\"*.log.\"$2\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_in_common_what_all_of_them_cover() {
        assert_eq!(common(&[(0, 100)]), None);
        assert_eq!(common(&[(0, 100), (0, 100)]), Some(1.0));
        assert_eq!(common(&[(0, 100), (20, 110), (10, 105)]), Some(0.8));
        assert_eq!(common(&[(0, 100), (200, 300)]), Some(0.0));
    }

    #[test]
    fn a_moment_is_waited_for_and_a_past_one_is_not() {
        let host = host::Local::new();
        let waited = |ahead: i128| {
            let script = wait(i128::from(host.now().unwrap().0) + ahead);
            let start = Instant::now();
            host.run_ok(&Cmd::new(["sh", "-c", &script])).unwrap();
            start.elapsed()
        };
        let ahead = waited(1_200_000_000).as_millis();
        assert!((1100..20_000).contains(&ahead), "{ahead} ms");
        assert!(waited(-5_000_000_000).as_millis() < 1000, "it waited for what is past");
    }

    #[test]
    fn hosts_that_missed_each_other_are_told() {
        let told = |other| apart(&[Some((0, 1000)), other]).map(|note| note.voids);
        assert_eq!(told(Some((50, 1050))), None);
        assert_eq!(told(Some((200, 1200))), Some(false));
        assert_eq!(told(Some((-300, 700))), Some(true));
        assert_eq!(told(None), Some(false), "nobody can tell");
    }

    #[test]
    fn a_port_is_listened_on_when_the_kernel_says_so() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                       0: 0200000A:223D 00000000:0000 0A 00000000:00000000\n";
        assert!(listens(table) && !listens(&table.replace("0A 0", "01 0")) && !listens(&table.replace("223D", "223E")));
    }
}
