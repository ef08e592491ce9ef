//! What `smartctl` and `nvme` say of drives: of one by its name, or of one whose name another text may tell.

use serde_json::Value;

use super::kept::{Nameless, Smart};
use super::machine::LETTERS;
use super::{Machine, nvme};

/// What two texts of one drive say, such as those of `smartctl -A` and `-l scterc`; nothing where they say different things of the same.
fn joined(known: &str, said: &Value) -> Option<String> {
    let Value::Object(mut both) = serde_json::from_str(known).ok()? else { return None };
    for (key, value) in said.as_object()? {
        match both.get(key) {
            Some(other) if other != value => return None,
            _ => drop(both.insert(key.clone(), value.clone())),
        }
    }
    Some(Value::Object(both).to_string())
}

impl Machine {
    /// Of a drive by its name, or of one whose name another text may tell.
    pub(super) fn smart(&mut self, name: Option<&str>, serial: Option<String>, smart: Smart) {
        match name {
            Some(name) => self.put_smart(name, serial.as_deref(), smart),
            None => self.nameless.push(Nameless { serial, smart }),
        }
    }

    fn put_smart(&mut self, name: &str, serial: Option<&str>, smart: Smart) {
        // `/dev/nvme0` is the controller; what is told of it is told of its first namespace.
        let (name, controller) = match name.strip_prefix("nvme") {
            Some(rest) if !rest.contains('n') => (format!("{name}n1"), Some(name.to_owned())),
            _ => (name.to_owned(), None),
        };
        self.drive(&name);
        let controller = controller.or_else(|| if smart.is_nvme { self.namespace(&name) } else { None });
        if let (true, Some(controller)) = (smart.is_nvme, &controller) {
            self.controller(controller, Some(&name));
        }
        smart.transport.into_iter().for_each(|transport| self.attached(&name, transport));
        for (file, value) in smart.files.into_iter().chain(serial.map(|serial| ("device/serial", serial.to_owned()))) {
            self.told(&name, file, value);
        }
        for (command, said) in smart.runs {
            let of_controller =
                ["nvme smart-log", "nvme id-ctrl", nvme::FEATURE].iter().any(|own| command.starts_with(own));
            let node = controller.as_ref().filter(|_| of_controller).unwrap_or(&name);
            let line = format!("{command} /dev/{node}");
            match self.runs.get(&line).and_then(|known| joined(known, &said)) {
                Some(both) => drop(self.runs.insert(line, both)),
                None => self.run(line, said.to_string()),
            }
        }
    }

    /// Texts without a device are of the drive with their serial number, or of one that is called by a letter that no
    /// drive has.
    pub(super) fn place_nameless(&mut self) {
        let mut given: Vec<(Option<String>, String)> = Vec::new();
        for Nameless { serial, smart } in std::mem::take(&mut self.nameless) {
            let known = self.block_files.iter().find(|((_, file), value)| {
                file == "device/serial" && serial.is_some() && Some(*value) == serial.as_ref()
            });
            let again = given.iter().find(|(of, _)| serial.is_some() && *of == serial);
            let name = match (known, again, LETTERS.get(given.len())) {
                (Some(((name, _), _)), _, _) | (None, Some((_, name)), _) => name.clone(),
                (None, None, Some(letter)) if smart.is_nvme => format!("nvme{letter}n1"),
                (None, None, Some(letter)) => format!("sd{letter}"),
                (None, None, None) => {
                    self.refused
                        .push("more than three texts of `smartctl` do not say which drive they are of".to_owned());
                    continue;
                }
            };
            given.push((serial.clone(), name.clone()));
            self.put_smart(&name, serial.as_deref(), smart);
        }
    }
}
