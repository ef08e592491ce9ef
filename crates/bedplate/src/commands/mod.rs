//! One function for each verb: ask the rooms, print, say how it ends.

pub(crate) mod advise;
pub(crate) mod agent;
pub(crate) mod build;
pub(crate) mod calibrate;
pub(crate) mod capture;
pub(crate) mod check_model;
pub(crate) mod compare;
pub(crate) mod doctor;
pub(crate) mod expect;
pub(crate) mod fio;
pub(crate) mod inspect;
pub(crate) mod lab;
pub(crate) mod manual;
pub(crate) mod plan;
pub(crate) mod profiles;
pub(crate) mod prove;
pub(crate) mod rates;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod studies;
pub(crate) mod teardown;

use crate::exit::Failure;

/// Only the lab builds stacks in this version: real drives wait for the guards that they need.
fn only_in_the_lab(place: &str) -> Result<(), Failure> {
    match place {
        "lab" => Ok(()),
        "local" => Err(Failure::Refused(
            "refused: `bedplate build` builds stacks in the lab only\n\n\
             hint: leave out `--on local`; `bedplate run STUDY --on local` builds on drives that you name"
                .to_owned(),
        )),
        other => Err(Failure::told(format!("error: `{other}` is not a place\n\nhint: use `--on lab`"))),
    }
}
