local M = {}
local LIMIT = 10

-- Adds.
function M.add(a, b)
  return a + b
end

function M:method(a) end

local function helper() end

function global_one() end

M.field = function(a) return a end
local fn = function() end
return M
