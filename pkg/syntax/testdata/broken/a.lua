local function one(a)
  if a > 1 then
    return call("x", {a})
  end
  return a
end

function two(b)
  for i = 1, 3 do
    b = b .. "y"
  end
  return b
end

function three()
  return one(3)
end
