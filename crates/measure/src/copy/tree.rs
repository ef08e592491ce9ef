//! The tree that is copied: incompressible files in directories of a hundred.

use host::Host;
use terms::plan::WorkFile;
use terms::workload::FileTree;
use terms::{Bytes, Cmd};

use super::{LIMIT, script};
use crate::error::MeasureError;

/// How many files of which size: as many as the total has room for, in the shares that were asked for.
pub(super) fn plan(tree: &FileTree) -> Vec<(Bytes, u64)> {
    let per_thousand: u64 = tree.sizes.iter().map(|class| class.size.0.saturating_mul(class.per_mille.into())).sum();
    let count = |per_mille: u32| {
        let exact = u128::from(tree.total.0) * u128::from(per_mille) / u128::from(per_thousand.max(1));
        u64::try_from(exact).unwrap_or(0)
    };
    let classes = tree.sizes.iter().map(|class| (class.size, count(class.per_mille)));
    classes.filter(|(size, count)| size.0 > 0 && *count > 0).collect()
}

/// Files of a plan.
pub(super) fn files(plan: &[(Bytes, u64)]) -> u64 {
    plan.iter().map(|(_, count)| count).sum()
}

/// Bytes of all its files together.
pub(super) fn bytes(plan: &[(Bytes, u64)]) -> Bytes {
    Bytes(plan.iter().map(|(size, count)| size.0 * count).sum())
}

/// A name for what the tree holds, so that the same tree is made once: FNV-1a over its sizes and goes.
pub(super) fn digest(tree: &FileTree) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let goes = (tree.goes > 1).then_some(tree.goes.into());
    for number in plan(tree).iter().flat_map(|(size, count)| [size.0, *count]).chain(goes) {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Makes files of `$2` bytes, `$3` of them, below `$1`/`$4`: random streams, cut into pieces, a hundred to a directory.
/// In `$5` goes: each adds its share to every directory, and is on the drives before the next begins.
const CLASS: &str = r#"
set -e
go=0
while [ "$go" -lt "$5" ]; do
    n=0
    while [ "$n" -lt "$3" ]; do
        d="$1/$4/$((n / 100))"
        mkdir -p "$d"
        left=$(($3 - n))
        [ "$left" -lt 100 ] || left=100
        from=$((left * go / $5))
        till=$((left * (go + 1) / $5))
        [ "$from" -eq "$till" ] ||
            head -c $(($2 * (till - from))) /dev/urandom | split -b "$2" -a 2 --numeric-suffixes="$from" - "$d/"
        n=$((n + left))
    done
    [ "$5" -eq 1 ] || sync -f "$1"
    go=$((go + 1))
done"#;

/// Makes the tree where it is not there already, under another name first: what has its name is whole. Gives why it
/// could not be made.
pub(super) fn make(host: &dyn Host, source: &str, tree: &FileTree) -> Result<Option<String>, MeasureError> {
    let plan = plan(tree);
    if plan.is_empty() {
        return Ok(Some("the tree holds no file: its total is smaller than what its shares come to".to_owned()));
    }
    if host.exists(source)? {
        return Ok(None);
    }
    let unfinished = format!("{source}{}", WorkFile::UNFINISHED);
    host.run(&Cmd::new(["rm", "-rf", &unfinished]).limit(LIMIT))?;
    for (number, (size, count)) in plan.iter().enumerate() {
        let numbers = [size.0, *count, u64::try_from(number).unwrap_or(u64::MAX), tree.goes.max(1).into()];
        let numbers = numbers.map(|number| number.to_string());
        let words: Vec<&str> = std::iter::once(&*unfinished).chain(numbers.iter().map(String::as_str)).collect();
        let made = host.run(&script(CLASS, &words))?;
        if !made.ok() {
            host.run(&Cmd::new(["rm", "-rf", &unfinished]).limit(LIMIT))?;
            return Ok(Some(format!("the source could not be made: {}", made.error_text())));
        }
    }
    host.run_ok(&Cmd::new(["mv", &unfinished, source]))?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use terms::workload::FileClass;

    use super::*;

    #[test]
    fn a_tree_has_its_shares_and_stays_within_its_total() {
        let class = |kib, per_mille| FileClass { size: Bytes::kib(kib), per_mille };
        let tree =
            FileTree { total: Bytes::mib(64), sizes: vec![class(4, 900), class(1024, 100)], source: None, goes: 1 };
        let plan = plan(&tree);
        assert_eq!(plan, [(Bytes::kib(4), 556), (Bytes::mib(1), 61)]);
        assert!(bytes(&plan) <= tree.total);
        assert_ne!(digest(&tree), digest(&FileTree { total: Bytes::mib(32), ..tree.clone() }));
        assert_ne!(digest(&tree), digest(&FileTree { goes: 2, ..tree.clone() }));
    }
}
