defmodule Example.Counter do
  @moduledoc """
  Counts per key.
  """

  use GenServer

  @default_step 1

  defstruct [:name, values: %{}]

  @type t :: %__MODULE__{}

  @doc "Starts a counter."
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    GenServer.start_link(__MODULE__, options)
  end

  @impl true
  def init(options), do: {:ok, struct(__MODULE__, options)}

  @impl true
  def handle_call({:get, key}, _from, state) do
    {:reply, Map.get(state.values, key, 0), state}
  end

  def handle_call(:all, _from, state) when is_map(state.values) do
    {:reply, state.values, state}
  end

  defp step(options), do: Keyword.get(options, :step, @default_step)

  defmacro bump(key) do
    quote do
      send(self(), {:bump, unquote(key)})
    end
  end
end

defimpl String.Chars, for: Example.Counter do
  def to_string(counter), do: "counter #{counter.name}"
end
