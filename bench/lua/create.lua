-- Makes links, each to a URL of its own, and writes the codes that were answered to a file.
-- Arguments: the file for the codes, a word that no other round uses, and possibly a file with API keys to use by turns.

local codes
local round
local count = 0
local keys = {}
created = 0
refused = 0

function init(arguments)
   codes = assert(io.open(arguments[1], "wb"))
   round = arguments[2]
   wrk.headers["Content-Type"] = "application/json"
   if arguments[3] then
      for key in io.lines(arguments[3]) do
         keys[#keys + 1] = "Bearer " .. key
      end
   end
end

function request()
   count = count + 1
   if #keys > 0 then
      wrk.headers["Authorization"] = keys[count % #keys + 1]
   end
   local body = string.format('{"original_url":"https://example.com/made/%s/%09d"}', round, count)
   return wrk.format("POST", "/api/v1/urls", nil, body)
end

function response(status, headers, body)
   local code = status == 201 and string.match(body, '"short_code":"([^"]+)"')
   if code then
      created = created + 1
      codes:write(code, "\n")
   else
      refused = refused + 1
   end
end

