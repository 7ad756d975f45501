//! HTML viewer: a program with its pipeline, or a state machine, as one self-contained HTML file.
//!
//! The file contains the design as columns of numbers and words in JSON. The script in the file computes the layout,
//! draws the design, and searches and highlights operations and their fan-in and fan-out cones.

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

/// Returns the HTML file. `title` names the design, `facts` is a line of key numbers, and `chart` is a well-formed SVG
/// image.
pub fn page(title: &str, facts: &str, chart: &str, drawing: &Drawing) -> String {
    // Inside a script element, only `<` can end the JSON.
    let data = drawing.data().to_string().replace('<', "\\u003c");
    Page { title, facts, chart, data }.render().expect("templates always render")
}
