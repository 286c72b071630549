class Box
  def one(a)
    if a > 1
      return call("x", [a])
    end
    a
  end

  # two
  def two(b)
    b.map do |x|
      x + "y"
    end
  end
end

def three
  Box.new.one(3)
end

def four
  three
end
