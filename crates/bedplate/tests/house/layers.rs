//! A layer is told in few files, so that another one takes an afternoon (CONTRIBUTING.md).

use crate::has_word;
use crate::source;

/// Most files outside tests, docs and the fake machine that name one layer.
const MOST: usize = 12;

/// A layer made by the recipe, and how code names it.
const LAYERS: [(&str, &[&str]); 3] = [
    ("partition", &["GptPartition", "Layer::Partition", "&PARTITION", "mod partition;"]),
    ("bcache", &["Bcache", "&BCACHE", "mod bcache;", "make-bcache"]),
    ("writecache", &["Writecache(", "&Writecache", "struct Writecache", "&WRITECACHE", "mod writecache;"]),
];

#[test]
fn a_layer_is_told_in_few_files() {
    for (layer, words) in LAYERS {
        let is_told = |source: &&source::Source| {
            let is_ours = source.is_product() && !source.path.starts_with("crates/fake/");
            is_ours && words.iter().any(|word| has_word(&source.words, word))
        };
        let sources = source::all();
        let files: Vec<&str> = sources.iter().filter(is_told).map(|source| source.path.as_str()).collect();
        assert!(files.len() >= 8, "{layer} has other names in the code now: {files:#?}");
        assert!(files.len() <= MOST, "{layer} is told in {} files, {MOST} at most:\n{files:#?}", files.len());
    }
}
