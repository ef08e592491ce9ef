//! Steps that need no drive: the kernel's cipher, and what the processors do with bytes in memory.

use host::Host;
use model::Parameter;
use terms::calibration::MeasuredConstant;
use terms::{BytesPerSecond, Cmd, Nanos};

use crate::Bench;
use crate::error::CalibrateError;
use crate::rates::Rates;

/// How far a rate of data in the cache may be from that of data that a drive just brought.
const HOT: f64 = 0.2;
/// Both ways of AES-XTS take about the same; figures farther apart are of something else that ran, and believing them
/// would lead later steps astray.
const ALIKE: f64 = 4.0;
/// How far code of this program may be from the kernel's.
const OWN_CODE: f64 = 0.3;

/// AES-XTS on one core: the kernel's, as cryptsetup tells it, or where the kernel lets nobody ask, that of OpenSSL.
pub(crate) fn cipher(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let (by, sigma, (encrypt, decrypt)) = match of_kernel(bench.host) {
        Ok(rates) => ("cryptsetup benchmark", HOT, rates),
        Err(error) if error.is_lost() => return Err(error),
        Err(error) => match of_openssl(bench.host)? {
            Some(rate) => ("openssl speed", OWN_CODE, (rate, rate)),
            None => return Err(error),
        },
    };
    let factor = bench.site().parameters.get(Parameter::CpuFactor);
    for (parameter, rate) in [(Parameter::CryptReadByte, decrypt), (Parameter::CryptWriteByte, encrypt)] {
        bench.set(parameter, 1.0 / rate / factor, sigma, &format!("{by}, one core"));
    }
    Ok(format!("AES-XTS {:.0} MB/s to encrypt, {:.0} to decrypt ({by})", encrypt / 1e6, decrypt / 1e6))
}

fn of_kernel(host: &dyn Host) -> Result<(f64, f64), CalibrateError> {
    let argv = ["cryptsetup", "benchmark", "--cipher", "aes-xts-plain64", "--key-size", "512"];
    let outcome = host.run_ok(&Cmd::new(argv).limit(Nanos::seconds(30)))?;
    rates(&outcome.text())
        .filter(|(encrypt, decrypt)| (1.0 / ALIKE..=ALIKE).contains(&(encrypt / decrypt)))
        .ok_or_else(|| CalibrateError::Told(format!("cryptsetup said: {}", outcome.text().trim())))
}

/// `None` where there is no OpenSSL.
fn of_openssl(host: &dyn Host) -> Result<Option<f64>, CalibrateError> {
    if host::find_program(host, "openssl")?.is_none() {
        return Ok(None);
    }
    let argv = ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", "16384", "-evp", "aes-256-xts"];
    let outcome = host.run_ok(&Cmd::new(argv).limit(Nanos::seconds(30)))?;
    Ok(openssl_rate(&outcome.text()))
}

/// The last field of the line of a cipher: bytes per second.
fn openssl_rate(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("+F:"))?;
    line.rsplit(':').next()?.trim().parse().ok().filter(|rate: &f64| *rate > 0.0)
}

/// The line of `cryptsetup benchmark`: cipher, key, encryption, decryption, in MiB/s.
fn rates(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().find(|line| line.trim_start().starts_with("aes-xts"))?;
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    let mut rate = || numbers.next().filter(|rate| *rate > 0.0).map(|rate| rate * 1_048_576.0);
    Some((rate()?, rate()?))
}

/// Copying, exclusive or and SHA-256, by this program itself: the parent of whatever the door starts.
pub(crate) fn memory(bench: &mut Bench<'_>) -> Result<String, CalibrateError> {
    let own = Cmd::new(["sh", "-c", "exec /proc/$PPID/exe rates"]).limit(Nanos::seconds(60));
    let outcome = bench.host.run_ok(&own)?;
    let rates: Rates = serde_json::from_slice(&outcome.stdout)
        .map_err(|error| CalibrateError::Told(format!("this program said what it does not know itself: {error}")))?;
    bench.calibration.memory = Some(BytesPerSecond(rates.copied_bytes_per_second));
    let factor = bench.site().parameters.get(Parameter::CpuFactor);
    let parity = 1.0 / rates.xored_bytes_per_second / factor;
    bench.set(Parameter::ParityByte, parity, OWN_CODE, "exclusive or of data from memory, one core");
    let hash = 1.0 / rates.sha256_bytes_per_second / factor;
    bench.set(Parameter::Sha256, hash, OWN_CODE, "SHA-256 of sectors, one core");
    Ok(format!(
        "memory {:.1} GB/s, XOR {:.1} GB/s and SHA-256 {:.2} GB/s of a core",
        rates.copied_bytes_per_second / 1e9,
        rates.xored_bytes_per_second / 1e9,
        rates.sha256_bytes_per_second / 1e9
    ))
}

impl Bench<'_> {
    /// Puts a measured constant in the place of an earlier one.
    pub(crate) fn set(&mut self, parameter: Parameter, value: f64, sigma: f64, origin: &str) {
        let constants = &mut self.calibration.constants;
        constants.retain(|constant| constant.key != parameter.key());
        let key = parameter.key().to_owned();
        constants.push(MeasuredConstant { key, value, sigma, origin: origin.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn cryptsetups_table_is_read() {
        let text = "# Tests are approximate using memory only (no storage IO).\n\
                    # Algorithm |       Key |      Encryption |      Decryption\n    \
                    aes-xts        512b      2048.0 MiB/s      1024.5 MiB/s\n";
        let (encrypt, decrypt) = super::rates(text).unwrap();
        assert!((encrypt - 2048.0 * 1_048_576.0).abs() < 1.0 && (decrypt - 1024.5 * 1_048_576.0).abs() < 1.0);
        assert_eq!(super::rates("aes-xts 512b N/A N/A"), None);
    }

    #[test]
    fn openssls_line_is_read() {
        let text = "+H:16384\n+F:22:AES-256-XTS:5213028352.00\n";
        assert!(super::openssl_rate(text).is_some_and(|rate| (rate - 5_213_028_352.0).abs() < 1.0));
        assert_eq!(super::openssl_rate("+H:16384\n"), None);
    }
}
