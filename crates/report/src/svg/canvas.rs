//! The few elements that the drawings are made of, with everything escaped.

use std::fmt::{Display, Write as _};

use crate::width::width;

/// A drawing under way.
#[derive(Debug, Default)]
pub(crate) struct Canvas(String);

/// Text that may stand in an element or between double quotes of an attribute. Characters that XML has no way to
/// write are replaced.
pub(crate) fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
        out
    })
}

/// A share of the width, as a percentage in tenths, which are less than a pixel; what is not a number is nothing.
pub(crate) fn percent(share: f64) -> String {
    let share = if share.is_nan() { 0.0 } else { share };
    let text = format!("{:.1}", share.clamp(0.0, 1.0) * 100.0);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// A length in pixels, rounded to tenths so that the text stays short.
pub(crate) fn px(length: f64) -> String {
    let text = format!("{length:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// About how wide a text is, in pixels. System fonts take 0.5 to 0.58 em for an average character; the wider is taken.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    // Texts are short: no count of columns is beyond what a double holds.
    f64::from(u32::try_from(width(text)).unwrap_or(u32::MAX)) * size * 0.58
}

impl Canvas {
    /// An element with its attributes and nothing inside.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.open(name, attributes);
        self.0.truncate(self.0.len() - 1);
        self.0.push_str("/>");
    }

    /// The beginning of an element.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.0, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.0, " {key}=\"{}\"", escape(&value.to_string()));
        }
        self.0.push('>');
    }

    /// The end of an element.
    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.0, "</{name}>");
    }

    /// A mark of the page's own, with its middle here.
    pub(crate) fn mark(&mut self, name: &str, x: &str, y: &str) {
        self.element("use", &[("href", &format!("#{name}")), ("x", &x), ("y", &y)]);
    }

    /// A piece of text.
    pub(crate) fn text(&mut self, text: &str, attributes: &[(&str, &dyn Display)]) {
        self.open("text", attributes);
        self.0.push_str(&escape(text));
        self.close("text");
    }

    /// A title: what a pointer that rests on the element's parent is told.
    pub(crate) fn title(&mut self, text: &str) {
        self.open("title", &[]);
        self.0.push_str(&escape(text));
        self.close("title");
    }

    /// The whole as an image of this height that is as wide as it may be.
    pub(crate) fn wide(self, height: f64, says: &str) -> String {
        let (height, says) = (px(height), escape(says));
        format!(
            "<svg class=\"chart\" role=\"img\" aria-label=\"{says}\" width=\"100%\" height=\"{height}\">{}</svg>",
            self.0
        )
    }

    /// The whole as an image that the style sheet gives a size, and that is stretched to it.
    pub(crate) fn stretched(self, size: (f64, f64), class: &str, says: &str) -> String {
        let (width, height, says) = (px(size.0), px(size.1), escape(says));
        format!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{says}\" viewBox=\"0 0 {width} {height}\" \
             preserveAspectRatio=\"none\">{}</svg>",
            self.0
        )
    }

    /// The whole as an image of a fixed size that shrinks where there is less room; `extra` are more attributes.
    pub(crate) fn fixed(self, size: (f64, f64), class: &str, says: &str, extra: &str) -> String {
        let (width, height, says) = (px(size.0), px(size.1), escape(says));
        format!(
            "<svg class=\"{class}\" role=\"img\" aria-label=\"{says}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\"{extra}>{}</svg>",
            self.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_escaped() {
        assert_eq!(escape("<script>&\"'\u{1b}"), "&lt;script&gt;&amp;&quot;&#39;\u{fffd}");
        let mut canvas = Canvas::default();
        canvas.element("rect", &[("class", &"a\"b")]);
        assert_eq!(canvas.0, "<rect class=\"a&quot;b\"/>");
    }
}
