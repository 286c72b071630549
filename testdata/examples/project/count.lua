-- How many lines of Go are in a directory?
local lines = 0
for _, file in ipairs(tools.glob{pattern = args[1] .. "/**/*.go"}.metadata.files) do
	lines = lines + tools.read{path = file}.metadata.total_lines
end
print(lines .. " lines")
