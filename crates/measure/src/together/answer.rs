//! What fio's client says of several servers, each apart.
//!
//! The client's JSON has the jobs of all servers in one list, each with the address that it was reached by, and behind
//! them a sum called `All clients`. Each host's jobs are put into a document as fio alone would have printed it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use terms::record::Reading;

/// What fio calls the sum.
const SUM: &str = "All clients";

/// A document for every host, by its address; none where there is nothing to be understood.
pub(super) fn by_host(stdout: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let Some(said) = document(stdout) else { return BTreeMap::new() };
    let mut jobs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for job in own_jobs(&said) {
        let address = job.get("hostname").and_then(Value::as_str).unwrap_or_default();
        jobs.entry(address.to_owned()).or_default().push(job.clone());
    }
    jobs.into_iter().map(|(address, jobs)| (address, as_of_one(&said, jobs))).collect()
}

/// The sum over all hosts, which fio's own sum has to agree with; or what is wrong.
pub(super) fn whole(stdout: &[u8]) -> Result<Reading, String> {
    let said = document(stdout).ok_or("fio's client printed no JSON")?;
    let reading = crate::fio::parse(&as_of_one(&said, own_jobs(&said).cloned().collect()))?.reading;
    let sum = jobs(&said).find(|job| is_sum(job)).ok_or("fio's client gave no sum over its hosts")?;
    for (direction, flow) in [("read", &reading.read), ("write", &reading.write)] {
        let theirs = sum[direction]["io_bytes"].as_u64().unwrap_or(0);
        let ours = flow.as_ref().map_or(0, |flow| flow.bytes.0);
        if theirs != ours {
            return Err(format!("{direction}: the hosts did {ours} bytes, and fio's sum is {theirs}"));
        }
    }
    Ok(reading)
}

/// The JSON among what was printed, and the words around it.
pub(super) fn split(stdout: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let Some((_, json)) = read(stdout) else { return (Vec::new(), stdout.to_vec()) };
    (stdout[json.clone()].to_vec(), [&stdout[..json.start], &stdout[json.end..]].concat())
}

fn document(stdout: &[u8]) -> Option<Map<String, Value>> {
    Some(read(stdout)?.0)
}

fn read(stdout: &[u8]) -> Option<(Map<String, Value>, std::ops::Range<usize>)> {
    let start = stdout.iter().position(|byte| *byte == b'{')?;
    let mut documents = serde_json::Deserializer::from_slice(&stdout[start..]).into_iter();
    let document = documents.next()?.ok()?;
    Some((document, start..start + documents.byte_offset()))
}

fn jobs(said: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    said.get("client_stats").and_then(Value::as_array).into_iter().flatten()
}

fn own_jobs(said: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    jobs(said).filter(|job| !is_sum(job))
}

fn is_sum(job: &Value) -> bool {
    job.get("jobname").and_then(Value::as_str) == Some(SUM)
}

fn as_of_one(said: &Map<String, Value>, jobs: Vec<Value>) -> Vec<u8> {
    json!({ "fio version": said.get("fio version"), "jobs": jobs }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, address: &str, bytes: u64) -> Value {
        let flow = |bytes: u64| {
            json!({ "io_bytes": bytes, "bw_bytes": bytes, "iops": 1.0, "runtime": 1000, "total_ios": bytes / 4096,
                    "clat_ns": { "mean": 5.0, "max": 9 } })
        };
        json!({ "jobname": name, "hostname": address, "error": 0, "read": flow(bytes), "write": flow(0) })
    }

    fn client(sum: u64) -> Vec<u8> {
        let jobs = [
            job("w", "10.0.1.3", 8192),
            job("w", "10.0.1.2", 4096),
            job("w", "10.0.1.2", 4096),
            job(SUM, "10.0.1.2", sum),
        ];
        format!("hostname=x\n{}", json!({ "fio version": "fio-3.33", "client_stats": jobs })).into_bytes()
    }

    #[test]
    fn every_host_gets_its_own_jobs_and_no_sum() {
        let hosts = by_host(&client(16384));
        let first = crate::fio::parse(&hosts["10.0.1.2"]).unwrap();
        assert_eq!((hosts.len(), first.jobs.len(), first.version.as_str()), (2, 2, "fio-3.33"));
        assert_eq!(crate::fio::parse(&hosts["10.0.1.3"]).unwrap().reading.read.unwrap().bytes.0, 8192);
    }

    #[test]
    fn words_around_the_json_are_kept_apart() {
        let (json, words) = split(b"<a> w: starting\n{\"client_stats\": []}\nbye");
        assert_eq!(
            (json.as_slice(), words.as_slice()),
            (&b"{\"client_stats\": []}"[..], &b"<a> w: starting\n\nbye"[..])
        );
        assert_eq!(split(b"refused"), (Vec::new(), b"refused".to_vec()));
    }

    #[test]
    fn the_whole_is_the_sum_and_fio_has_to_agree() {
        assert_eq!(whole(&client(16384)).unwrap().read.unwrap().bytes.0, 16384);
        assert!(whole(&client(16000)).unwrap_err().contains("fio's sum is 16000"));
        assert!(whole(b"").is_err() && whole(b"{}").is_err() && by_host(b"nothing").is_empty());
    }
}
