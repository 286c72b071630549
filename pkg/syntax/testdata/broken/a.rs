pub fn one(a: i32) -> i32 {
    if a > 1 {
        return call("x", [a]);
    }
    a
}

struct Point {
    x: i32,
}

impl Point {
    fn two(&self) -> String {
        let list: Vec<i32> = (0..3).map(|x| { x + 1 }).collect();
        format!("{:?}", list)
    }

    fn more(&self) -> i32 {
        self.x
    }
}

fn three() -> i32 {
    one(3)
}
