//! What the tests of the whole share: the rules of the house as code, and a running town.

pub mod town;
pub mod workspace;
