namespace Demo
{
    public class A
    {
        private int width;

        public int One(int a)
        {
            if (a > 1)
            {
                return Call("x", a);
            }
            return a;
        }

        /// <summary>two</summary>
        public string Two(string b)
        {
            foreach (var c in b)
            {
                b += "y";
            }
            return b;
        }

        public void Three()
        {
            One(3);
        }
    }
}
