//! What a stack with a cache loses with it.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use durability::{Arrangement, arrangement};
use terms::layer::{Bcache, BcacheMode, Writecache};
use terms::{Layer, LayerNode, Name, Ref, Stack};

#[test]
fn a_cache_is_as_needed_as_what_is_below_where_it_alone_has_writes() {
    let name = |text: &str| Name::new(text).unwrap();
    let drive = |text: &str| Arrangement::Drive(name(text));
    let behind = |layer| {
        let special = vec![Ref::Drive(name("fast"))];
        let node = LayerNode { name: name("x"), layer, on: vec![Ref::Drive(name("slow"))], special };
        arrangement(&Stack { name: "x".into(), note: None, nodes: vec![node] }).unwrap()
    };
    let bcache = |mode| Layer::Bcache(Bcache { mode, ..Bcache::default() });
    for layer in [bcache(BcacheMode::Writeback), Layer::Writecache(Writecache::default())] {
        assert_eq!(behind(layer), Arrangement::All(vec![drive("slow"), drive("fast")]));
    }
    for mode in [BcacheMode::Writethrough, BcacheMode::Writearound] {
        assert_eq!(behind(bcache(mode)), drive("slow"));
    }
}
