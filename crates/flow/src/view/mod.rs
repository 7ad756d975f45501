//! A program and its pipeline, or a state machine, as one page for a browser: self-contained, no network, made from a
//! template.
//!
//! The page gets columns of numbers and words as JSON; it lays out, draws, searches and follows cones itself.

mod drawing;
mod machine;
mod model;
pub mod options;
mod rank;

pub use drawing::{Column, Drawing};
pub use model::ScheduledModel;

use askama::Template;

#[derive(Template)]
#[template(path = "view/page.html")]
struct Page<'a> {
    title: &'a str,
    facts: &'a str,
    chart: &'a str,
    data: String,
}

/// The page. `title` names the design, `facts` is a line of figures about it, `chart` a picture in well-formed SVG.
pub fn page(title: &str, facts: &str, chart: &str, drawing: &Drawing) -> String {
    // In a script element only `<` can end what is JSON.
    let data = drawing.data().to_string().replace('<', "\\u003c");
    Page { title, facts, chart, data }.render().expect("templates render what they are given")
}
