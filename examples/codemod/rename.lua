-- Renames a word in all files: all or none. The change stays only while the tests pass.
-- Arguments: FROM TO TEST [FILES]
local from, to, test, files = args[1], args[2], args[3], args[4]

local found = tools.grep{pattern=from, literal=true, word=true, include={files or "*"}, limit=1000}
if found.error then error(found.error.message) end
local edits = {}
for _, file in ipairs(found.metadata.results) do
  for _, hit in ipairs(file.lines) do
    local renamed = hit.text:gsub("[%w_]+", {[from]=to})
    edits[#edits + 1] = {path=file.path, old_string=hit.text, new_string=renamed, line=hit.line}
  end
end
if #edits == 0 then return "nothing is called " .. from end

local change = tools.edit{path=edits[1].path, edits=edits, gate=true} -- refused as a whole where one part is
if change.error then
  print("nothing was changed: " .. change.error.message)
  return
end
print(#edits .. " lines changed")

local tested = tools.bash{command=test}
if tested.error or tested.metadata.exit_code ~= 0 then
  local back = tools.undo{id=change.metadata.change}
  print(back.error and back.error.message or "the tests fail, so it was taken back")
else
  print("the tests pass; agentkit undo would take it back")
end
