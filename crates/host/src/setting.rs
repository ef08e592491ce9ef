//! Settings as files of the kernel tell them.

/// What is in force of a setting. Files that offer a choice mark it with brackets (kernel, block/elevator.c), and take
/// only the word.
#[must_use]
pub fn in_force(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::in_force;

    #[test]
    fn of_a_choice_the_word_in_brackets_is_in_force() {
        for (text, expect) in [("[none] mq-deadline", "none"), ("none [bfq]", "bfq"), ("256", "256"), ("a [b", "a [b")]
        {
            assert_eq!(in_force(text), expect);
        }
    }
}
