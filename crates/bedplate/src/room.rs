//! Room for the data that a run fills, and for the buffers of its workloads.

use capacity::{CapacityError, DriveSize};
use host::Host;
use terms::layer::ZfsCompression;
use terms::{Bytes, Cmd, Layer, LayerNode, Load, Method, Name, Nanos, Stack, Workload};

use crate::exit::Failure;

/// What is free where a path is, for whoever asks.
///
/// # Errors
/// Where the machine does not tell.
pub(crate) fn free(host: &dyn Host, path: &str) -> Result<Bytes, Failure> {
    let cmd = Cmd::new(["df", "--output=avail", "--block-size=1", "--", path]).limit(Nanos::seconds(20));
    let outcome = host.run_ok(&cmd)?;
    let free = outcome.text().lines().last().and_then(|line| line.trim().parse().ok()).map(Bytes);
    free.ok_or_else(|| Failure::told(format!("error: `df` does not say how much is free at `{path}`")))
}

/// A tenth more than what is written: metadata, and other people's work.
pub(crate) const fn with_margin(span: Bytes) -> Bytes {
    Bytes(span.0.saturating_add(span.0 / 10))
}

/// The memory of a machine is not the study's to take: half of it is the most that the buffers of a workload may have.
///
/// # Errors
/// [`Failure::Told`] with every workload that wants more.
pub(crate) fn for_buffers(workloads: &[Workload], memory: Bytes) -> Result<(), Failure> {
    let most = Bytes(memory.0 / 2);
    let large = |work: &&Workload| most.0 > 0 && work.buffers() > most;
    let told: Vec<String> =
        workloads.iter().filter(large).map(|work| format!("`{}` would take {}", work.name, work.buffers())).collect();
    if told.is_empty() {
        return Ok(());
    }
    Err(Failure::told(format!(
        "error: buffers of workloads may take {most}, half of the machine's memory\n  because: {}\n\n\
         hint: block x depth x jobs: make one of them smaller, or give the guest more `memory` in [lab]",
        told.join("\n  because: ")
    )))
}

/// Do stacks fit their drives, and the data every stack? Of one whose drives are not all known nothing is said, nor whether data fit a pool
/// that compresses.
///
/// # Errors
/// [`Failure::Told`] with every stack that does not fit, or that holds less, and what fits all.
pub(crate) fn for_data(stacks: &[Stack], drives: &[DriveSize], span: Bytes) -> Result<(), Failure> {
    let (mut told, mut most) = (Vec::new(), None);
    for stack in stacks {
        match capacity::account(stack, drives) {
            Ok(account) if span > account.total && !compresses(stack) => {
                told.push(format!("stack `{}` holds {}", stack.name, account.total));
                let room = capacity::room_to_work(stack, account.total);
                most = Some(most.unwrap_or(room).min(room));
            }
            Err(error @ (CapacityError::TooSmall { .. } | CapacityError::ThinChunk { .. })) => {
                told.push(format!("stack `{}`: {error}", stack.name));
            }
            _ => {}
        }
    }
    if told.is_empty() {
        return Ok(());
    }
    let hint = most.filter(|most| most.0 > 0).map_or_else(
        || "take larger drives, or smaller chunks and stripes".to_owned(),
        |most| {
            format!(
                "make `--span`, `size` in the job file or `span` in [measure] {most} or less; or take larger drives"
            )
        },
    );
    Err(Failure::told(format!(
        "error: data of {span} do not fit\n  because: {}\n\nhint: {hint}",
        told.join("\n  because: ")
    )))
}

/// Has each job of every workload a block of the span, and an operation of the rate that is offered?
///
/// # Errors
/// [`Failure::Told`] with every workload that has not.
pub(crate) fn for_jobs(workloads: &[Workload], span: Bytes) -> Result<(), Failure> {
    let mut told = Vec::new();
    for work in workloads.iter().filter(|work| work.method == Method::Fio) {
        if work.least_span() > span {
            told.push(format!("`{}` needs a span of {}, and has {span}", work.name, work.least_span()));
        }
        if let Load::Rate(rate) = work.load
            && rate < work.least_rate()
        {
            told.push(format!(
                "`{}` offers {rate}/s, and {} jobs get {}/s or more",
                work.name,
                work.jobs,
                work.least_rate()
            ));
        }
    }
    if told.is_empty() {
        return Ok(());
    }
    Err(Failure::told(format!(
        "error: there is not enough for each job\n  because: {}\n\nhint: fewer jobs, smaller blocks, a larger span or a higher rate",
        told.join("\n  because: ")
    )))
}

/// Are the blocks of every workload whole blocks of what it reads and writes past the page cache? Of drives that are not known nothing is said.
///
/// # Errors
/// [`Failure::Told`] with every workload of which a stack would refuse requests.
pub(crate) fn for_blocks(workloads: &[Workload], stacks: &[Stack], drives: &[DriveSize]) -> Result<(), Failure> {
    let lba = |name: &Name| drives.iter().find(|drive| drive.name == *name).map(|drive| drive.lba);
    let mut told = Vec::new();
    for stack in stacks {
        let Some(unit) = stack.direct_block(lba) else { continue };
        let small = workloads.iter().filter(|work| work.breaks_blocks_of(unit));
        told.extend(small.map(|work| {
            format!("`{}` moves {}, and stack `{}` takes multiples of {unit}", work.name, work.block, stack.name)
        }));
    }
    if told.is_empty() {
        return Ok(());
    }
    Err(Failure::told(format!(
        "error: some workloads have blocks that their stacks do not take\n  because: {}\n\nhint: make `block` a multiple of that, or take drives with smaller logical blocks",
        told.join("\n  because: ")
    )))
}

fn compresses(stack: &Stack) -> bool {
    let is_it = |node: &LayerNode| matches!(&node.layer, Layer::Zfs(zfs) if zfs.compression != ZfsCompression::Off);
    stack.nodes.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use terms::{Pattern, Reach};

    use super::*;

    #[test]
    fn each_job_has_a_block_and_an_operation() {
        let work = |jobs, reach, load| Workload {
            jobs,
            reach,
            load,
            ..Workload::new(Name::new("w").unwrap(), Pattern::RandRead, Bytes::mib(1))
        };
        let refused =
            |work: Workload| for_jobs(&[work], Bytes::mib(32)).err().map(|failure| failure.text()).unwrap_or_default();
        assert_eq!(refused(work(64, Reach::Span, Load::Closed)), "", "jobs at random places share the span");
        assert!(refused(work(64, Reach::Samples(2), Load::Closed)).contains("needs a span of 64 MiB, and has 32 MiB"));
        assert_eq!(refused(work(32, Reach::Samples(2), Load::Rate(32))), "");
        assert!(refused(work(32, Reach::Span, Load::Rate(31))).contains("32 jobs get 32/s or more"));
    }

    #[test]
    fn requests_are_whole_blocks_of_the_drives() {
        let stacks = ["a", "b"].map(|name| {
            let name = Name::new(name).unwrap();
            let on = vec![terms::Ref::Drive(name.clone())];
            let nodes = vec![LayerNode { name: name.clone(), layer: Layer::Bare, on, special: vec![] }];
            Stack { name: name.to_string(), note: None, nodes }
        });
        let drive = |name: &str, lba| DriveSize {
            name: Name::new(name).unwrap(),
            size: Bytes::gib(1),
            lba: Bytes(lba),
            slice: false,
        };
        let work = |name: &str, block| Workload::new(Name::new(name).unwrap(), Pattern::Read, Bytes(block));
        let told = |lba| {
            let drives = [drive("a", 512), drive("b", lba)];
            for_blocks(&[work("small", 512), work("large", 8192)], &stacks, &drives).map_err(|failure| failure.text())
        };
        assert!(told(512).is_ok());
        let text = told(4096).unwrap_err();
        assert!(text.contains("`small` moves 512 B, and stack `b` takes multiples of 4 KiB"), "{text}");
        assert_eq!(text.matches("because").count(), 1, "{text}");
    }

    #[test]
    fn a_machines_memory_is_not_taken() {
        let work = |depth| Workload { depth, ..Workload::new(Name::new("w").unwrap(), Pattern::Read, Bytes::mib(64)) };
        assert!(for_buffers(&[work(16)], Bytes::gib(3)).is_ok());
        let told = for_buffers(&[work(16), work(1024)], Bytes::gib(3)).unwrap_err().text();
        assert!(told.contains("1.50 GiB") && told.contains("64 GiB") && told.matches("because").count() == 1, "{told}");
        assert!(for_buffers(&[work(1024)], Bytes(0)).is_ok(), "a machine that does not tell its memory");
    }
}
