//! What holds for every hard disk. Time is that of the drive: nothing here waits.

use proptest::prelude::*;

use std::os::unix::fs::FileExt;

use super::super::cache::offset;
use super::*;

const SIZE: u64 = 768 << 20;
const PAGE: u64 = 4096;

fn drive() -> Queue<u64> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE).unwrap();
    Queue::new(&Spindle::default(), Bytes(SIZE), Platter::File(file))
}

/// What is on the platter, whatever is in the cache.
fn on_platter(queue: &Queue<u64>, data: &mut [u8], start: u64) {
    data.copy_from_slice(&queue.platter.read(&(start..start + data.len() as u64)).unwrap());
}

/// A row of places that looks like chance and is the same each time.
fn places(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        // Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Keeps `depth` requests under way until `count` are answered; how long that takes.
fn run(queue: &mut Queue<u64>, depth: u64, count: u64, mut next: impl FnMut() -> Ask) -> Nanos {
    let mut now = queue.clock;
    let start = now;
    let (mut asked, mut answered) = (0, 0);
    while asked < depth {
        queue.submit(now, asked, next());
        asked += 1;
    }
    loop {
        for answer in queue.answers() {
            answer.result.unwrap();
            answered += 1;
            if asked < count {
                queue.submit(now, asked, next());
                asked += 1;
            }
        }
        if answered == count {
            return Nanos(now.0 - start.0);
        }
        if queue.answers.is_empty() {
            now = queue.next().unwrap();
            queue.advance(now);
        }
    }
}

fn random_reads(depth: u64, seed: u64) -> f64 {
    let mut place = places(seed);
    let next = || Ask::Read { from: place() % (SIZE / PAGE) * PAGE, len: 4096 };
    1500.0 / run(&mut drive(), depth, 1500, next).as_seconds()
}

fn sequential(write: bool, block: u32, depth: u64, count: u64) -> f64 {
    let mut at = 0;
    let next = || {
        let from = at;
        at += u64::from(block);
        match write {
            true => Ask::Write { from, data: vec![1; block as usize], through: false },
            false => Ask::Read { from, len: block },
        }
    };
    let mut queue = drive();
    let mut time = run(&mut queue, depth, count, next);
    if write {
        time.0 += run(&mut queue, 1, 1, || Ask::Flush).0;
    }
    f64::from(block) * count as f64 / time.as_seconds()
}

#[test]
fn large_accesses_in_order_run_at_the_rate_of_the_zone() {
    for (write, depth) in [(false, 1), (false, 8), (true, 1), (true, 8)] {
        let rate = sequential(write, 1 << 20, depth, 128);
        assert!((0.9..1.0).contains(&(rate / 200e6)), "write {write}, depth {depth}: {rate}");
    }
}

/// Bytes per second of a stream of reads that goes round a span twenty times; each is asked for a while after an answer.
fn laps(span: u64, depth: u64, pause: Nanos) -> f64 {
    const BLOCK: u32 = 1 << 20;
    let mut queue = drive();
    let count = 20 * span / u64::from(BLOCK);
    let mut due: VecDeque<Nanos> = (0..depth).map(|_| Nanos(0)).collect();
    let (mut asked, mut answered) = (0, 0);
    while answered < count {
        let turn = [due.front().copied().filter(|_| asked < count), queue.next()].into_iter().flatten().min().unwrap();
        queue.advance(turn);
        while asked < count && due.pop_front_if(|at| *at <= turn).is_some() {
            let from = asked * u64::from(BLOCK) % span;
            queue.submit(turn, asked, Ask::Read { from, len: BLOCK });
            asked += 1;
        }
        let ended = queue.answers().len() as u64;
        answered += ended;
        due.extend((0..ended).map(|_| Nanos(queue.clock.0 + pause.0)));
    }
    20.0 * span as f64 / queue.clock.as_seconds()
}

/// Stacks differ in how many requests wait at once and in how long the next is in coming.
#[test]
fn laps_of_a_stream_are_some_turns_apart_which_is_the_less_the_longer_they_are() {
    for span in [64 << 20, 256 << 20] {
        let ways = [2, 4, 8].into_iter().flat_map(|depth| [0, 50_000, 300_000].map(|pause| (depth, Nanos(pause))));
        let rates: Vec<f64> = ways.map(|(depth, pause)| laps(span, depth, pause)).collect();
        let (low, high) = rates.iter().fold((f64::MAX, 0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        let told = 12_f64.sqrt() * drive().drive.lap_error(Bytes(span), terms::BytesPerSecond(high));
        let apart = (high / low).ln() / told;
        assert!((0.1..1.0).contains(&apart), "{apart} of what is told: {rates:?}");
    }
}

#[test]
fn a_lone_random_read_takes_a_way_and_half_a_turn() {
    let rate = random_reads(1, 5);
    let told = drive().drive.alone(Bytes(SIZE), Bytes(PAGE)).as_seconds();
    assert!((rate * told - 1.0).abs() < 0.05, "{rate} {told}");
}

#[test]
fn the_same_requests_have_the_same_answers() {
    let times = [1, 1].map(|seed| random_reads(32, seed).to_bits());
    assert_eq!(times[0], times[1]);
}

#[test]
fn the_cache_answers_at_once_while_it_has_room_and_then_as_the_head_goes() {
    let mut place = places(3);
    let mut queue = drive();
    let mut next = || Ask::Write { from: place() % (SIZE / PAGE) * PAGE, data: vec![7; 4096], through: false };
    let fits = (8 << 20) / PAGE;
    assert_eq!(run(&mut queue, 1, fits, &mut next), Nanos(0));
    let after = 500.0 / run(&mut queue, 1, 500, &mut next).as_seconds();
    let alone = random_reads(1, 5);
    // Sorted among 32, so more than one by one; by the head, so not many times that.
    assert!(after > alone && after < alone * 5.0, "{after} {alone}");
}

#[test]
fn a_flush_waits_for_what_was_answered_before_and_not_for_what_came_after() {
    let mut queue = drive();
    for at in 0..3u64 {
        queue.submit(Nanos(0), at, Ask::Write { from: at * (SIZE / 4), data: vec![1; 4096], through: false });
    }
    assert_eq!(queue.answers().len(), 3);
    queue.submit(Nanos(0), 10, Ask::Flush);
    queue.submit(Nanos(0), 11, Ask::Write { from: SIZE / 8, data: vec![1; 4096], through: false });
    assert_eq!(queue.answers().iter().map(|answer| answer.ticket).collect::<Vec<_>>(), [11]);
    while queue.answers.is_empty() {
        let next = queue.next().unwrap();
        queue.advance(next);
    }
    assert_eq!(queue.answers()[0].ticket, 10);
    for at in 0..3u64 {
        let mut byte = [0];
        on_platter(&queue, &mut byte, at * (SIZE / 4));
        assert_eq!(byte, [1]);
    }
}

#[test]
fn a_write_through_is_answered_when_it_is_on_the_platter_and_ahead_of_the_cache() {
    let mut queue = drive();
    let mut place = places(9);
    for at in 0..500 {
        queue.submit(
            Nanos(0),
            at,
            Ask::Write { from: place() % (SIZE / PAGE) * PAGE, data: vec![1; 4096], through: false },
        );
    }
    queue.answers();
    queue.submit(Nanos(0), 900, Ask::Write { from: SIZE / 2 + 512, data: vec![2; 512], through: true });
    assert!(queue.answers.is_empty());
    let mut drained = 0;
    while queue.answers.is_empty() {
        let next = queue.next().unwrap();
        queue.advance(next);
        drained += 1;
    }
    let mut byte = [0];
    on_platter(&queue, &mut byte, SIZE / 2 + 512);
    assert!(byte == [2] && drained < 400, "{drained}");
}

#[test]
fn a_drive_whose_cache_is_off_answers_writes_from_the_platter_and_still_sorts_them() {
    let spindle = Spindle { write_through: true, ..Spindle::default() };
    let mut queue = Queue::new(&spindle, Bytes(SIZE), Platter::File(tempfile::tempfile().unwrap()));
    let mut place = places(9);
    for at in 0..32 {
        let from = place() % (SIZE / PAGE) * PAGE;
        queue.submit(Nanos(0), at, Ask::Write { from, data: vec![1; 4096], through: false });
    }
    assert!(queue.answers().is_empty());
    let (mut order, mut at) = (Vec::new(), Nanos(0));
    while let Some(next) = queue.next() {
        at = next;
        queue.advance(next);
        order.extend(queue.answers().into_iter().map(|answer| answer.ticket));
    }
    assert_eq!(order.len(), 32);
    assert!(!order.is_sorted(), "by the way of the head");
    assert!(at > Nanos::millis(100), "{at}");
}

#[test]
fn power_takes_what_was_only_in_the_cache() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SIZE).unwrap();
    let mut queue = Queue::new(&Spindle::default(), Bytes(SIZE), Platter::File(file.try_clone().unwrap()));
    for at in 0..64u64 {
        queue.submit(Nanos(0), at, Ask::Write { from: at * 65536, data: vec![9; 512], through: false });
    }
    drop(queue);
    let kept = (0..64u64).filter(|at| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at * 65536).unwrap();
        byte == [9]
    });
    assert!(kept.count() <= 1);
}

#[test]
fn nothing_waits_for_ever() {
    // Reads next to the head come without end, and one read is far away.
    let mut queue = drive();
    let mut place = places(2);
    queue.submit(Nanos(0), u64::MAX, Ask::Read { from: SIZE - PAGE, len: 4096 });
    let mut others = 0;
    let mut now = Nanos(0);
    loop {
        queue.submit(now, others, Ask::Read { from: place() % 4096 * PAGE, len: 4096 });
        if queue.answers().iter().any(|answer| answer.ticket == u64::MAX) {
            break;
        }
        others += 1;
        assert!(others < 4 * u64::from(PATIENCE), "passed over {others} times");
        if queue.reads.len() >= QUEUE - 1 {
            now = queue.next().unwrap();
            queue.advance(now);
        }
    }
}

#[test]
fn what_a_stream_read_ahead_is_there_at_once() {
    let mut queue = drive();
    queue.submit(Nanos(0), 0, Ask::Read { from: 0, len: 4096 });
    let first = queue.next().unwrap();
    // Two milliseconds later the head has read on for 400 kB.
    queue.submit(Nanos(first.0 + 2_000_000), 1, Ask::Read { from: 4096, len: 65536 });
    assert_eq!(queue.answers().len(), 2);
    // Long after, what follows the turn that was read ahead is not there.
    queue.submit(Nanos(first.0 + 900_000_000), 2, Ask::Read { from: 64 << 20, len: 4096 });
    assert!(queue.answers().is_empty());
}

#[test]
fn a_buffer_does_not_remember_more_than_it_holds() {
    // One at a time with pauses, so that the head reads on after each; all places lie within 64 MiB.
    let mut queue = drive();
    let mut place = places(4);
    let mut now = Nanos(0);
    let (mut hits, count) = (0, 2000);
    for ticket in 0..count {
        queue.submit(now, ticket, Ask::Read { from: place() % (64 << 20) / PAGE * PAGE, len: 4096 });
        hits += u32::from(!queue.answers.is_empty());
        while queue.answers.is_empty() {
            now = queue.next().unwrap();
            queue.advance(now);
        }
        queue.answers();
        now.0 += 9_000_000;
    }
    // 8 MiB of 64.
    let share = f64::from(hits) / count as f64;
    assert!(share < 0.125 * 1.3, "{share}");
}

/// What a client may do, in blocks of 512 bytes within a small part of the drive.
#[derive(Debug, Clone)]
enum Move {
    Read(u64, u64),
    Write(u64, u64, u8, bool),
    Flush,
    Pause(u64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (0u64..64, 1u64..24).prop_map(|(at, len)| Move::Read(at, len)),
        6 => (0u64..64, 1u64..24, any::<u8>(), prop::bool::weighted(0.1))
            .prop_map(|(at, len, byte, through)| Move::Write(at, len, byte, through)),
        1 => Just(Move::Flush),
        3 => (0u64..30_000_000).prop_map(Move::Pause),
    ];
    prop::collection::vec(one, 1..120)
}

proptest! {
    #[test]
    fn what_was_written_is_read(moves in moves(), cache in prop::sample::select(vec![512u64, 8192, 1 << 20])) {
        let size = 32u64 << 20;
        let spindle = Spindle { cache: Bytes(cache), ..Spindle::default() };
        let mut queue = Queue::new(&spindle, Bytes(size), Platter::in_memory(Bytes(size)).unwrap());
        // Blocks lie apart by more than a turn holds, so that the order in which they are reached is not their own.
        let place = |at: u64| at * 512 + if at >= 32 { 16 << 20 } else { 0 };
        let mut plain = vec![0u8; 17 << 20];
        let mut now = Nanos(0);
        for (number, one) in moves.into_iter().enumerate() {
            let ticket = number as u64;
            match one {
                Move::Pause(time) => now.0 += time,
                Move::Flush => queue.submit(now, ticket, Ask::Flush),
                Move::Read(at, len) => queue.submit(now, ticket, Ask::Read { from: place(at), len: len as u32 * 512 }),
                Move::Write(at, len, byte, through) => {
                    let data = vec![byte; offset(len * 512)];
                    plain[offset(place(at))..][..data.len()].copy_from_slice(&data);
                    queue.submit(now, ticket, Ask::Write { from: place(at), data, through });
                }
            }
            queue.advance(now);
            // One at a time: a client that has an answer outstanding may read old or new bytes.
            while queue.answers.iter().all(|answer| answer.ticket != ticket) && !matches!(one, Move::Pause(_)) {
                now = queue.next().unwrap();
                queue.advance(now);
            }
            for answer in queue.answers() {
                let range = answer.result.unwrap();
                if let Move::Read(at, _) = one {
                    let (from, data) = (offset(place(at)), queue.bytes(&range.unwrap()).unwrap());
                    prop_assert!(*data == plain[from..from + data.len()]);
                }
            }
            if matches!(one, Move::Flush) {
                prop_assert!(!queue.cache.holds_any(queue.writes));
                for at in 0..96 {
                    let mut block = [0; 512];
                    on_platter(&queue, &mut block, place(at));
                    prop_assert!(block == plain[offset(place(at))..][..512]);
                }
            }
        }
    }

    #[test]
    fn many_under_way_at_once_are_each_answered_once_and_end_on_the_platter(
        moves in moves(), cache in prop::sample::select(vec![512u64, 8192, 1 << 20]),
    ) {
        let size = 32u64 << 20;
        let spindle = Spindle { cache: Bytes(cache), ..Spindle::default() };
        let mut queue = Queue::new(&spindle, Bytes(size), Platter::in_memory(Bytes(size)).unwrap());
        let mut plain = vec![0u8; 1 << 20];
        let mut now = Nanos(0);
        let mut open = std::collections::BTreeSet::new();
        for (number, one) in moves.into_iter().enumerate() {
            let ticket = number as u64;
            open.insert(ticket);
            match one {
                Move::Pause(time) => {
                    now.0 += time;
                    open.remove(&ticket);
                }
                Move::Flush => queue.submit(now, ticket, Ask::Flush),
                Move::Read(at, len) => queue.submit(now, ticket, Ask::Read { from: at * 512, len: len as u32 * 512 }),
                Move::Write(at, len, byte, through) => {
                    let data = vec![byte; offset(len * 512)];
                    plain[offset(at * 512)..][..data.len()].copy_from_slice(&data);
                    queue.submit(now, ticket, Ask::Write { from: at * 512, data, through });
                }
            }
            for answer in queue.answers() {
                prop_assert!(open.remove(&answer.ticket));
            }
            let missing = |read: &Read<u64>| queue.covered(&read.range) < read.range.end;
            // A write that took the room of a piece on its way is looked at when something happens next.
            prop_assert!(!queue.news.is_empty() || queue.reads.iter().all(missing), "a read waits for what is there");
            let held = |wait: &Wait<u64>| wait.is_held(&queue.busy, &queue.cache);
            prop_assert!(queue.waits.iter().all(held), "somebody waits for what is on the platter");
        }
        queue.submit(now, u64::MAX, Ask::Flush);
        open.insert(u64::MAX);
        while let Some(next) = queue.next() {
            queue.advance(next);
        }
        for answer in queue.answers() {
            prop_assert!(answer.result.is_ok() && open.remove(&answer.ticket));
        }
        prop_assert!(open.is_empty(), "{:?}", open);
        let mut platter = vec![0; 1 << 20];
        on_platter(&queue, &mut platter, 0);
        prop_assert!(platter == plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_deeper_queue_never_does_fewer_operations(seed: u64) {
        let rates = [1, 2, 4, 8, 16, 32].map(|depth| random_reads(depth, seed));
        prop_assert!(rates.is_sorted(), "{:?}", rates);
    }

    #[test]
    fn accesses_in_order_are_faster_than_at_random(seed: u64, depth in 1u64..32) {
        let ordered = sequential(false, 4096, depth, 1500) / 4096.0;
        let random = random_reads(depth, seed);
        prop_assert!(ordered > random * 10.0, "{} {}", ordered, random);
    }
}
