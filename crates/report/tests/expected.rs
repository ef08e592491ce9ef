//! Tables of what is expected before anything is built: capacity and durability.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use report::{Style, account_table, outlook_table};
use terms::account::{Account, Exactness, LayerAccount, Purpose, Use};
use terms::durability::{Amplification, Cause, CauseLoss, CommonCause, Healing, Loss, Outlook, Spread};
use terms::{Bytes, Name, Nanos};

fn account() -> Account {
    let entry = |layer: &str, title: &str, below, above, uses: &[(Purpose, u64)], exactness| LayerAccount {
        layer: Name::new(layer).unwrap(),
        title: title.to_owned(),
        below: Bytes(below),
        above: Bytes(above),
        uses: uses.iter().map(|(purpose, bytes)| Use { purpose: *purpose, bytes: Bytes(*bytes) }).collect(),
        exactness,
    };
    // Two drives of 2 TB, as `capacity` accounts for them.
    let (raid, luks, ext4) = (2_000_263_577_600, 2_000_246_800_384, 1_867_662_581_760);
    let raid_uses = [(Purpose::Header, 270_696_448), (Purpose::Copies, raid), (Purpose::Rounding, 16_384)];
    let file_uses =
        [(Purpose::Metadata, 31_479_824_384), (Purpose::Journal, 1_073_741_824), (Purpose::Reserve, 100_030_652_416)];
    let entries = vec![
        entry("r", "RAID-1", 4_000_797_868_032, raid, &raid_uses, Exactness::Byte),
        entry("l", "LUKS2", raid, luks, &[(Purpose::Header, 16 << 20)], Exactness::Byte),
        entry("e", "ext4", luks, ext4, &file_uses, Exactness::Thousandth),
    ];
    Account {
        stack: "safe".to_owned(),
        drives: Bytes(4_000_797_868_032),
        entries,
        total: Bytes(1_967_693_234_176),
        available: Bytes(ext4),
        shown: None,
    }
}

fn loss(scale: f64) -> Loss {
    let spread = |middle: f64| Spread { low: middle / 10.0, middle, high: middle * 100.0 };
    let cause =
        |cause, times: f64, bytes: f64| CauseLoss { cause, probability: spread(times), bytes: spread(times * bytes) };
    let causes = vec![
        cause(Cause::DrivesTogether, 2.2e-6, 1e12),
        cause(Cause::UnreadableBlock, 6.4e-5, 4096.0),
        cause(Cause::SilentCorruption, 1.5e-3 * scale, 65_536.0),
        cause(Cause::CommonCause, 1e-3, 1e12),
    ];
    let any = causes.iter().map(|cause| cause.probability.middle).sum();
    let bytes = causes.iter().map(|cause| cause.bytes.middle).sum();
    Loss {
        period_years: 1,
        causes,
        any: spread(any),
        everything: spread(1e-3),
        bytes: spread(bytes),
        per_byte: spread(bytes / 1e12),
    }
}

fn outlook() -> Outlook {
    let minutes = |minutes: u64| Nanos::seconds(60 * minutes);
    Outlook {
        stack: "safe".to_owned(),
        degraded: false,
        unknown_life: Vec::new(),
        healing: Healing::Unnoticed,
        rebuild: Some(Spread { low: minutes(162), middle: minutes(162), high: minutes(400) }),
        scrub: Some(Spread::exactly(minutes(162))),
        amplification: vec![Amplification {
            block: Bytes::kib(4),
            random: true,
            layers: Vec::new(),
            total: Spread { low: 2.0, middle: 2.0, high: 2.04 },
        }],
        life_years: Some(Spread { low: 40.0, middle: 80.0, high: 170.0 }),
        common: CommonCause::ASSUMED,
        loss: loss(1.0),
        otherwise: loss(1e-4),
    }
}

#[test]
fn an_account_is_a_table_that_fits_the_terminal() {
    let account = account();
    assert!(account.entries.iter().all(LayerAccount::balances), "{account:#?}");
    insta::assert_snapshot!(account_table(&account, &Style::default()));
    for width in [40, 60, 80, 132] {
        let text = account_table(&account, &Style { width, ..Style::default() });
        // Names and sizes are never cut, so the narrowest table is as wide as they are.
        assert!(text.lines().all(|line| line.chars().count() <= width.max(60)), "{width}:\n{text}");
    }
}

#[test]
fn what_df_says_and_what_is_left_for_snapshots_is_told() {
    let said = |account: &Account| account_table(account, &Style::default()).replace('\n', " ");
    let of = account();
    assert!(!said(&of).contains("only") && !said(&of).contains("by choice"), "{}", said(&of));
    let told = said(&Account { shown: Some(Bytes::gib(1000)), ..of.clone() });
    assert!(told.contains("`df` shows 1.79 TiB in total and only 1000 GiB available"), "{told}");
    let mut thin = of;
    thin.entries[0].uses.push(Use { purpose: Purpose::Snapshots, bytes: Bytes::gib(600) });
    let told = said(&thin);
    assert!(told.contains("600 GiB stays free for snapshots, by choice"), "{told}");
}

#[test]
fn what_is_missing_and_what_is_not_known_is_told() {
    let told = outlook_table(
        &Outlook { degraded: true, unknown_life: vec![Name::new("fast").unwrap()], ..outlook() },
        &Style::default(),
    );
    let told = told.replace('\n', " ");
    assert!(told.contains("the last member of each array is taken to be missing all year"), "{told}");
    assert!(told.contains("The life of `fast` is not predicted"), "{told}");
}

#[test]
fn an_outlook_with_long_figures_fits_the_terminal() {
    let mut wide = outlook();
    for of in wide.loss.causes.iter_mut().map(|of| &mut of.probability) {
        *of = Spread { low: 1.0 / 8.3e10, middle: 1.0 / 4.7e10, high: 1.0 / 1.2e10 };
    }
    wide.loss.causes[0].bytes = Spread::exactly(890.46e6);
    for width in [66, 72, 80, 120] {
        let text = outlook_table(&wide, &Style { width, ..Style::default() });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
    }
}

#[test]
fn a_guess_of_what_takes_all_drives_is_said_to_be_one() {
    let told = |common| outlook_table(&Outlook { common, ..outlook() }, &Style::default()).replace('\n', " ");
    let (assumed, given) = (told(CommonCause::ASSUMED), told(CommonCause::of(Some(0.002))));
    assert!(assumed.contains("common cause, assumed"), "{assumed}");
    assert!(assumed.contains("1 in 1000 a year is assumed for what takes all drives at once"), "{assumed}");
    assert!(given.contains("common cause, as given") && given.contains("1 in 500 a year is given"), "{given}");
}

#[test]
fn an_outlook_says_each_cause_and_what_repair_would_change() {
    let text = outlook_table(&outlook(), &Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    let alone = Outlook { rebuild: None, scrub: None, ..outlook() };
    assert!(outlook_table(&alone, &Style::default()).contains("Nothing is redundant"));
}
