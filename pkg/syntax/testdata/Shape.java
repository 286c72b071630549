package demo;

import java.util.List;

/** A shape. */
@Deprecated
public abstract class Shape<T> extends Base {
    private static final int LIMIT = 10;
    protected String name;

    public Shape(String name) { this.name = name; }

    @Override
    public int area() { return 1; }

    abstract void draw();

    enum Color { RED, GREEN; int v() { return 1; } }

    interface Visitor { void visit(Shape s); }

    record Pair(int a, int b) {}

    @interface Marker { String value(); }
}
