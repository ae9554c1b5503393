local signal = {}
signal.__index = signal

local MAX_LISTENERS = 32

-- Makes a new signal.
function signal.new(name)
  return setmetatable({ name = name, listeners = {} }, signal)
end

--- Calls every listener.
-- @param ... what they get
function signal:emit(...)
  for _, listener in ipairs(self.listeners) do
    listener(...)
  end
end

local function check(listener)
  assert(type(listener) == "function", "a listener is a function")
end

signal.connect = function(self, listener)
  check(listener)
  table.insert(self.listeners, listener)
end

signal.filters = {
  once = function(listener)
    local done = false
    return function(...)
      if not done then
        done = true
        listener(...)
      end
    end
  end,
  limit = MAX_LISTENERS,
}

return signal
