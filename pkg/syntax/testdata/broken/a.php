<?php

function one($a)
{
    if ($a > 1) {
        return call("x", [$a]);
    }
    return $a;
}

class Box
{
    /** two */
    public function two($b)
    {
        foreach ([$b] as $x) {
            $b .= "y";
        }
        return $b;
    }

    public function more()
    {
        return 1;
    }
}

function three()
{
    return one(3);
}
