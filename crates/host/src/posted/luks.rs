//! `cryptsetup luksDump`, which does not name its device: the command before it does.

use super::{Machine, Text};

/// `LUKS header information`, which the first version follows with the device.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("LUKS header information")
}

/// The version that a header tells: 1 or 2.
pub(super) fn version(text: &str) -> Option<&str> {
    let told = text.lines().find_map(|line| line.strip_prefix("Version:"))?.trim();
    ["1", "2"].contains(&told).then_some(told)
}

/// The header as it is.
pub(super) fn read(text: &Text, machine: &mut Machine) -> usize {
    let of_itself = text.lines.first().and_then(|line| line.split_once(" for /dev/")).map(|(_, name)| name.trim());
    let Some(name) = of_itself.or_else(|| text.device()).filter(|name| !name.is_empty() && !name.contains([' ', '/']))
    else {
        machine.refused.push(
            "it does not say which device it is of: put the command, such as `cryptsetup luksDump /dev/sda2`, on the line before"
                .to_owned(),
        );
        return 0;
    };
    machine.block(name);
    machine.run(format!("cryptsetup luksDump /dev/{name}"), text.lines.join("\n") + "\n");
    1
}
