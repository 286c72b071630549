defmodule Geo.Shape do
  @moduledoc "Shapes."
  @limit 10
  defstruct [:name]

  @doc "Area."
  @spec area(t) :: number
  def area(%{r: r}) when r > 0 do
    r * r
  end

  defp helper(a, b), do: a + b
  defmacro macro(x), do: x
  def zero, do: 0

  defmodule Inner do
    def deep(), do: :ok
  end
end

defprotocol Size do
  def size(data)
end

defimpl Size, for: BitString do
  def size(s), do: byte_size(s)
end

defmodule Clauses do
  @type t :: %{name: String.t()}
  @callback draw(t) :: :ok

  @doc """
  Sums a list.

  More words.
  """
  @spec sum([integer]) :: integer
  def sum([]), do: 0

  def sum([head | tail]) do
    head + sum(tail)
  end

  def sum(list, start), do: sum(list) + start

  describe "adding" do
    test "adds one" do
      assert sum([1]) == 1
    end
  end
end

defimpl Size, for: Clauses do
  def size(_), do: 1
end
