using System;

namespace Demo.Shapes
{
    /// <summary>A shape.</summary>
    [Serializable]
    public class Shape : Base
    {
        private const int Limit = 10;
        private int count;
        public string Name { get; set; }
        public event EventHandler Changed;
        public Shape(string name) { Name = name; }
        [Obsolete]
        public int Area() { return 1; }
        public static Shape operator +(Shape a, Shape b) => a;
        public enum Color { Red, Green }
        public int this[int i] => i;
    }
    public interface IVisitor { void Visit(Shape s); }
    public struct Point { public int X; }
    public record Pair(int A, int B);
    public delegate void Handler(int a);
}
