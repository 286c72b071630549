package a;

public class A {
    private int width;

    public int one(int a) {
        if (a > 1) {
            return call("x", a);
        }
        return a;
    }

    /** two */
    public String two(String b) {
        for (int i = 0; i < 3; i++) {
            b += "y";
        }
        return b;
    }

    static class Inner {
        int deep() {
            return 1;
        }
    }

    public void three() {
        one(3);
    }
}
