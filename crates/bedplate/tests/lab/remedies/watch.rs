//! Who watches, scrubs and trims: a guest in which systemd runs beside the lab's own first process.

use super::{FAULT, Fault};

pub(crate) const STUDY: &str = r#"
question = "Do remedies of services and timers work as printed?"
[lab]
memory = "3 GiB"
drives = [
    { name = "a", size = "2 GiB", lba = "512 B" },
    { name = "b", size = "2 GiB", lba = "512 B" },
]
[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
"#;

pub(crate) const SCENES: &[&[Fault]] = &[&[
    Fault {
        check: "no-monitor",
        at: "1 array",
        // systemd has a process namespace of its own, where it is the first process, and starts nothing by itself: neither
        // udev nor what is in the guest's fstab. Its socket is where programs outside look for it.
        plant: "modprobe -a raid1 btrfs zfs dm_thin_pool; \
            rm -rf /usr/lib/systemd/system/*.target.wants /etc/systemd/system/*.target.wants; mkdir -p /run/systemd/system /etc/mdadm /etc/cron.d; \
            for t in sysinit basic; do printf '[Unit]\\nDefaultDependencies=no\\n' > /run/systemd/system/$t.target; done; \
            printf '[Unit]\\nDefaultDependencies=no\\n' > /run/systemd/system/quiet.target; \
            mountpoint -q /run || mount --bind /run /run; mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup; \
            setsid unshare --fork --pid --mount --propagation unchanged bash -c 'mount --make-private /proc; mount -t proc proc /proc; exec /lib/systemd/systemd --system --unit=quiet.target' > /run/systemd.log 2>&1 < /dev/null & \
            for t in $(seq 40); do systemctl list-units > /dev/null 2>&1 && break; sleep 1; done; systemctl list-units --all | tail -3; \
            cut a1 $A 0 64; cut b1 $B 0 64; mdadm --create /dev/md1 --quiet --run --level=1 --raid-devices=2 --assume-clean --bitmap=internal /dev/mapper/a1 /dev/mapper/b1; noise /dev/md1 16",
        data: "md5sum < /dev/md1",
        first: "echo MAILADDR root >> /etc/mdadm/mdadm.conf",
        last: "sleep 1; systemctl is-active mdmonitor.service",
        ..FAULT
    },
    Fault {
        check: "no-scrub-timer",
        at: "1 array",
        data: "md5sum < /dev/md1",
        last: "systemctl is-enabled mdcheck_start.timer",
        ..FAULT
    },
    Fault {
        check: "no-monitor",
        at: "thin pool",
        plant: "cut t $A 100 128; pvcreate -qq /dev/mapper/t; vgcreate -qq thin /dev/mapper/t; lvcreate -qq --yes --type thin-pool -L 32m -n pool thin; lvcreate -qq --yes -V 32m -T thin/pool -n vol; noise /dev/thin/vol 8",
        data: "md5sum < /dev/thin/vol",
        last: "systemctl is-active dm-event.socket lvm2-monitor.service",
        ..FAULT
    },
    Fault {
        check: "no-scrub-timer",
        at: "btrfs",
        plant: "cut bt $A 300 256; mkfs.btrfs -q /dev/mapper/bt; mkdir -p /mnt/bt; mount /dev/mapper/bt /mnt/bt; noise /mnt/bt/file 16",
        data: "md5sum /mnt/bt/file",
        last: "sed 's/.* root //' /etc/cron.d/btrfs-scrub | sh",
        ..FAULT
    },
    Fault {
        check: "no-trim-timer",
        at: "on flash",
        data: "md5sum /mnt/bt/file",
        last: "systemctl is-enabled fstrim.timer",
        ..FAULT
    },
    Fault {
        check: "no-scrub-timer",
        at: "ZFS pool",
        plant: "cut z $B 300 256; zpool create -o ashift=12 tank /dev/mapper/z; noise /tank/file 16",
        data: "md5sum /tank/file",
        last: "systemctl is-enabled zfs-scrub-monthly@tank.timer",
        ..FAULT
    },
    Fault { check: "no-trim-timer", at: "tank", data: "md5sum /tank/file", ..FAULT },
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
