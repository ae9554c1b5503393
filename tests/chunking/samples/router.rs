//! Routes by prefix.

use std::collections::HashMap;
use std::fmt;

const MAX_DEPTH: usize = 16;

/// What a route answers.
#[derive(Debug, Clone)]
pub struct Router<T> {
    routes: HashMap<String, T>,
}

pub enum Found<'a, T> {
    Exact(&'a T),
    Nothing,
}

/// Something that can be asked.
pub trait Handler {
    fn name(&self) -> String;

    fn shout(&self) -> String {
        self.name().to_uppercase()
    }
}

impl<T: Clone> Router<T> {
    /// Adds a route.
    #[inline]
    pub fn route(&mut self, path: &str, value: T) -> &mut Self {
        self.routes.insert(path.to_owned(), value);
        self
    }

    fn depth(path: &str) -> usize {
        path.split('/').count().min(MAX_DEPTH)
    }
}

impl<T> fmt::Display for Router<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} routes", self.routes.len())
    }
}

macro_rules! routes {
    ($($path:expr => $value:expr),*) => {{ let mut r = Router::new(); $(r.route($path, $value);)* r }};
}

pub mod shape {
    pub fn trim(path: &str) -> &str {
        path.trim_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_segments() {
        assert_eq!(Router::<u8>::depth("a/b"), 2);
    }
}
