//! Two ways to one drive, over a network within the guest.

use super::{FAULT, Fault};

pub(crate) const LAB: &str = r#"
memory = "3 GiB"
drives = [
    { name = "a", size = "2 GiB", lba = "512 B" },
    { name = "b", size = "2 GiB", lba = "512 B" },
]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[&[
    Fault {
        check: "paths-unused",
        at: "nvme",
        plant: "modprobe -a nvmet nvmet_tcp nvme_tcp; ip link set lo up; c=/sys/kernel/config; mountpoint -q $c || mount -t configfs configfs $c; t=$c/nvmet; \
            mkdir $t/subsystems/two; echo 1 > $t/subsystems/two/attr_allow_any_host; mkdir $t/subsystems/two/namespaces/1; \
            dmsetup create far --table \"0 131072 linear $B $((1000 * 2048))\"; printf %s /dev/mapper/far > $t/subsystems/two/namespaces/1/device_path; echo 1 > $t/subsystems/two/namespaces/1/enable; \
            for p in 1 2; do mkdir $t/ports/$p; echo tcp > $t/ports/$p/addr_trtype; echo ipv4 > $t/ports/$p/addr_adrfam; echo 127.0.0.1 > $t/ports/$p/addr_traddr; echo 442$p > $t/ports/$p/addr_trsvcid; \
            ln -s $t/subsystems/two $t/ports/$p/subsystems/two; nvme connect -t tcp -a 127.0.0.1 -s 442$p -n two --ctrl-loss-tmo=600 --reconnect-delay=2 --keep-alive-tmo=5; done; sleep 2; \
            nvme list-subsys; noise /dev/nvme2n1 16",
        data: "md5sum < /dev/nvme2n1",
        ..FAULT
    },
    Fault {
        check: "controller-not-live",
        at: "nvme3",
        plant: "t=/sys/kernel/config/nvmet; rm $t/ports/2/subsystems/two; for n in $(seq 30); do grep -q live /sys/class/nvme/nvme3/state || break; sleep 1; done; cat /sys/class/nvme/nvme3/state",
        data: "md5sum < /dev/nvme2n1",
        first: "t=/sys/kernel/config/nvmet; ln -s $t/subsystems/two $t/ports/2/subsystems/two",
        last: "for n in $(seq 30); do grep -q live /sys/class/nvme/nvme3/state && break; sleep 1; done",
        ..FAULT
    },
]];
