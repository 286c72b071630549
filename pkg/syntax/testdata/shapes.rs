//! Shapes.
use std::fmt;

const LIMIT: usize = 10;
static NAME: &str = "x";

/// A shape.
#[derive(Debug)]
pub struct Shape {
    pub name: String,
}

pub enum Color { Red, Green }

pub trait Area {
    type Unit;
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { self.area() * 2.0 }
}

impl<T> Area for Shape<T> {
    fn area(&self) -> f64 { 1.0 }
}

impl Shape {
    pub fn new(name: &str) -> Self { todo!() }
}

mod inner {
    pub fn deep() {}
}

macro_rules! square { ($x:expr) => { $x * $x } }

type Pair = (i32, i32);
union Bits { a: u32, b: f32 }

#[test]
fn main() {}

impl From<u8> for Port { fn from(n: u8) -> Self { Port(n as u16) } }
impl From<u16> for Port { fn from(n: u16) -> Self { Port(n) } }

pub fn wrapped<T>(
    first: &str,
    second: Vec<T>, // why
) -> Result<T>
where
    T: Clone,
{
    todo!()
}
