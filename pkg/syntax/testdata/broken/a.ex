defmodule Box do
  def one(a) do
    if a > 1 do
      call("x", [a])
    end
  end

  @doc "two"
  def two(b) do
    Enum.map(b, fn x ->
      x <> "y"
    end)
  end

  def three do
    one(3)
  end
end
