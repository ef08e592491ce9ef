//! Machines within machines: a connection, a guest, a place each pass on what they are asked.

/// What a machine has from another one within it: every method of [`Host`] but its name, and whether it is thrown away.
/// All of them are passed on, those with a default too: one that is forgotten would answer for itself.
///
/// `forward_host!(own => own.remote)` inside `impl Host for …`.
#[macro_export]
macro_rules! forward_host {
    ($own:ident => $inner:expr) => {
        fn run(&self, cmd: &::terms::Cmd) -> Result<::terms::Outcome, $crate::HostError> {
            let $own = self;
            $inner.run(cmd)
        }
        fn read(&self, path: &str) -> Result<Vec<u8>, $crate::HostError> {
            let $own = self;
            $inner.read(path)
        }
        fn write(&self, path: &str, bytes: &[u8]) -> Result<(), $crate::HostError> {
            let $own = self;
            $inner.write(path, bytes)
        }
        fn list(&self, path: &str) -> Result<Vec<String>, $crate::HostError> {
            let $own = self;
            $inner.list(path)
        }
        fn resolve(&self, path: &str) -> Result<String, $crate::HostError> {
            let $own = self;
            $inner.resolve(path)
        }
        fn now(&self) -> Result<::terms::Nanos, $crate::HostError> {
            let $own = self;
            $inner.now()
        }
        fn pause(&self, time: ::std::time::Duration) -> Result<(), $crate::HostError> {
            let $own = self;
            $inner.pause(time)
        }
        fn has_own_clock(&self) -> bool {
            let $own = self;
            $inner.has_own_clock()
        }
        fn run_sampled(
            &self,
            cmd: &::terms::Cmd,
            sampling: &$crate::Sampling,
        ) -> Result<(::terms::Outcome, Vec<$crate::CounterSample>), $crate::HostError> {
            let $own = self;
            $inner.run_sampled(cmd, sampling)
        }
        fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, $crate::HostError> {
            let $own = self;
            $inner.read_at(path, offset, length)
        }
        fn find(&self, path: &str, wanted: &$crate::Needle<'_>) -> Result<Vec<$crate::NeedleHit>, $crate::HostError> {
            let $own = self;
            $inner.find(path, wanted)
        }
        fn device_number(&self, path: &str) -> Result<Option<$crate::Devno>, $crate::HostError> {
            let $own = self;
            $inner.device_number(path)
        }
        fn open_exclusively(&self, path: &str) -> Result<$crate::Exclusivity, $crate::HostError> {
            let $own = self;
            $inner.open_exclusively(path)
        }
        fn hold(&self, path: &str) -> Result<Option<$crate::Hold>, $crate::HostError> {
            let $own = self;
            $inner.hold(path)
        }
        fn release(&self, hold: u64) -> Result<(), $crate::HostError> {
            let $own = self;
            $inner.release(hold)
        }
    };
}
