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
