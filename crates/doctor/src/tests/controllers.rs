//! Programs of RAID controllers in their own forms, and what is typed into them.

use host::{inspect, posted};
use terms::diagnosis::Finding;
use terms::diagnosis::Severity::{Error, Information, Warning};

use super::posts::{Found, check, post};
use crate::diagnose;

const NOT: &[&str] = &["read-write-errors"];

pub(super) fn found(text: &str) -> Vec<Finding> {
    diagnose(&inspect::examine(&posted::read([("post", text)]).machine).unwrap()).findings
}

fn commands(text: &str) -> Vec<String> {
    found(text).into_iter().flat_map(|found| found.remedy.commands).collect()
}

fn hpe(volume: &str, drive: &str) -> String {
    format!(
        "\nSmart Array P440ar in Slot 0 (Embedded)   (sn: X)\n\n   Port Name: 1I\n\n   Internal Drive Cage at Port 1I, Box 1, OK\n\n   \
         Array A (SAS, Unused Space: 0  MB)\n\n      logicaldrive 2 (2.18 TB, RAID 5, {volume})\n\n      \
         physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SAS HDD, 1.2 TB, {drive})\n      \
         physicaldrive 2I:1:6 (port 2I:box 1:bay 6, SAS HDD, 1.2 TB, OK, spare)\n\n   SEP (Vendor ID X, Model Y) 380\n"
    )
}

#[test]
fn what_ssacli_says() {
    const LACKS: &[Found] = &[("read-write-errors", "slot=0/ld=2", Error)];
    const FAILED: &[Found] = &[("read-write-errors", "slot=0/pd=1I:1:3", Error)];
    check(&[
        post(hpe("OK", "OK"), &[], NOT),
        post(hpe("Interim Recovery Mode", "OK"), LACKS, &[]),
        post(hpe("OK", "Failed"), FAILED, &[]),
        post(hpe("Recovering, 41% complete", "OK"), &[("read-write-errors", "slot=0/ld=2", Warning)], &[]),
        post(hpe("OK", "Predictive Failure"), &[("read-write-errors", "slot=0/pd=1I:1:3", Warning)], &[]),
        // One line of a report, and what names no slot.
        post(
            "   physicaldrive 1:0 (port 1:id 0 , Parallel SCSI, --- GB, Failed)\n",
            &[("read-write-errors", "all/pd=1:0", Error)],
            &[],
        ),
        post(
            "Smart Array P410 in Slot 1\n\n   array B (Failed)\n\n      logicaldrive 2 (2.2 TB, RAID 5, OK)\n",
            &[("read-write-errors", "slot=1/array=B", Warning)],
            &[],
        ),
        // In detail.
        post(
            "Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)\n\n   Array A\n\n      physicaldrive 1I:3:2\n         Port: 1I\n         Status: Failed\n         Drive Type: Data Drive\n",
            &[("read-write-errors", "slot=0/pd=1I:3:2", Error)],
            &[],
        ),
        post(
            "Smart Array P420i in Slot 0b\n   Controller Status: OK\n   Cache Status: Permanently Disabled\n   Battery/Capacitor Status: Failed (Replace Batteries/Capacitors)\n",
            &[("read-write-errors", "slot=0b", Warning)],
            &[],
        ),
        post("Smart Array P411 in Slot 3\n   Controller Status: OK\n   Cache Status: Not Configured\n", &[], NOT),
        post(
            "Smart Array P420i in Slot 0 (Embedded)\n   Controller Status: OK\n   Cache Status: Temporarily Disabled\n   Battery/Capacitor Status: Recharging\n",
            &[("read-write-errors", "slot=0", Information)],
            &[],
        ),
        // Who posts it writes what he likes.
        post(hpe("OK", "Failed").replace("1I:1:3 (", "1I;reboot ("), &[], NOT),
        post(hpe("Failed", "OK").replace("Slot 0", "Slot 0;reboot"), &[], &[]),
    ]);
    assert!(!commands(&hpe("Failed", "OK").replace("Slot 0", "Slot 0;reboot")).join("\n").contains("reboot"));
}

#[test]
fn what_sas3ircu_says() {
    let display = |volume: &str, drive: &str| {
        format!(
            "Avago Technologies SAS3 IR Configuration Utility.\nVersion 16.00.00.00\n\nRead configuration has been initiated for controller 1\n\
             IR volume 1\n  Volume ID                               : 323\n  Status of volume                        : {volume}\n\
             Physical device information\n\nDevice is a Hard disk\n  Enclosure #                             : 2\n  \
             Slot #                                  : 5\n  State                                   : {drive}\n\n\
             Device is a Enclosure services device\n  Enclosure #                             : 1\n  State                                   : Standby (SBY)\n"
        )
    };
    const VOLUME: &[Found] = &[("read-write-errors", "/c1/v1", Error)];
    check(&[
        post(display("Okay (OKY)", "Optimal (OPT)"), &[], NOT),
        post(display("Okay (OKY)", "Ready (RDY)"), &[], NOT),
        post(display("Degraded (DGD)", "Optimal (OPT)"), VOLUME, &[]),
        post(display("Okay (OKY)", "Failed (FLD)"), &[("read-write-errors", "/c1/e2/s5", Error)], &[]),
        // What is missing has no place.
        post(display("Okay (OKY)", "Missing (MIS)"), &[("read-write-errors", "/c1", Error)], &[]),
        post(
            "Background command progress status for controller 1...\nIR Volume 1\n  Current operation                       : None\n  \
             Volume status                           : Enabled\n  Volume state                            : Degraded\n",
            VOLUME,
            &[],
        ),
    ]);
    assert_eq!(commands(&display("Degraded (DGD)", "Optimal (OPT)")), ["sas3ircu 1 display", "sas3ircu 1 status"]);
}

#[test]
fn batteries_of_an_older_controller() {
    let battery = |line: &str| {
        format!(
            "BBU status for Adapter: 1\n\nBatteryType: iBBU\nVoltage: 4059 mV\n{line}\n  Charging Status              : None\n"
        )
    };
    const BAD: &[Found] = &[("read-write-errors", "/c1", Warning)];
    check(&[
        post(battery("Battery State     : Optimal"), &[], NOT),
        post(battery("  Battery Replacement required            : No"), &[], NOT),
        post(battery("  Battery Replacement required            : Yes"), BAD, &[]),
        post(battery("Battery State     : Non Operational"), BAD, &[]),
        post(battery("isSOHGood: No"), BAD, &[]),
    ]);
}

#[test]
fn what_storcli2_says_in_its_own_form() {
    let drive = |counts: &str| {
        format!(
            "Controller = 0\nStatus = Success\n\nDrive Information :\n=====\n\n-----\nEID:Slt PID State Status DG Size\n-----\n\
             306:3   280 Conf  Online  0   1.745 TiB\n-----\n\nDrive Detailed Information :\n=====\n{counts}\n"
        )
    };
    let pack = |state: &str| {
        format!(
            "Controller = 0\n\nEnergy Pack Info :\n=====\n\n-----\nType     SubType Voltage(mV) Temperature(C) Status\n-----\nSupercap FBU345  9412 31 {state}\n-----\n"
        )
    };
    const COUNTS: &[Found] = &[("read-write-errors", "/c0/e306/s3", Warning)];
    let json = |count: u32| {
        format!(
            "{{\"Controllers\":[{{\"Command Status\":{{\"Controller\":\"0\"}},\"Response Data\":{{\"Drives List\":[{{\"Drive Information\":\
             {{\"EID:Slt\":\"306:3\",\"PID\":280,\"State\":\"Conf\",\"Status\":\"Online\",\"DG\":0}},\
             \"Drive Detailed Information\":{{\"Media Error Count\":{count}}}}}]}}}}]}}\n"
        )
    };
    check(&[
        post(drive("Media Error Count = 17"), COUNTS, &[]),
        post(drive("S.M.A.R.T Alert Flagged By Drive = Yes"), COUNTS, &[]),
        post(drive("Media Error Count = 0\nS.M.A.R.T Alert Flagged By Drive = No"), &[], NOT),
        post(json(17), COUNTS, &[]),
        post(json(0), &[], NOT),
        post(pack("Failed"), &[("read-write-errors", "/c0", Warning)], &[]),
        post(pack("Optimal"), &[], NOT),
    ]);
}

#[test]
fn the_program_of_a_machine_is_the_one_that_is_typed() {
    const ROW: &str = "VD LIST :\n=======\n\nDG/VD TYPE  State Access\n0/0   RAID5 Dgrd  RW\n";
    let commands = |typed: &str, text: &str| commands(&format!("# {typed}\n{text}"));
    // Nothing but what was typed tells which controller it is.
    assert_eq!(commands("perccli64 /c2 show", ROW), ["perccli64 /c2 show", "perccli64 /c2/eall/sall show all"]);
    assert_eq!(commands("storcli /c1/vall show", ROW), ["storcli /c1 show", "storcli /c1/eall/sall show all"]);
    assert_eq!(
        commands(
            "MegaCli64 -LDInfo -Lall -aALL",
            "Adapter 1 -- Virtual Drive Information:\nVirtual Drive: 0 (Target Id: 0)\nState : Degraded\n"
        ),
        ["MegaCli64 -LDInfo -LALL -a1", "MegaCli64 -PDList -a1"]
    );
    assert_eq!(
        commands("hpssacli ctrl slot=0 ld all show", &hpe("Failed", "OK")),
        ["hpssacli ctrl slot=0 show config", "hpssacli ctrl slot=0 pd all show detail"]
    );
}
