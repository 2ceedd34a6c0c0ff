-- Nineteen redirects and one create, again and again: 95 % and 5 %.
-- Arguments: the file with the codes, a word that no other round uses.

local requests = {}
local round
local count = 0
local last = 0
created = 0
refused = 0

function init(arguments)
   for code in io.lines(arguments[1]) do
      requests[#requests + 1] = "GET /" .. code .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\n\r\n"
   end
   round = arguments[2]
   wrk.headers["Content-Type"] = "application/json"
end

function request()
   count = count + 1
   if count % 20 == 0 then
      local body = string.format('{"original_url":"https://example.com/made/%s/%09d"}', round, count)
      return wrk.format("POST", "/api/v1/urls", nil, body)
   end
   last = last % #requests + 1
   return requests[last]
end

function response(status, headers, body)
   if status == 201 then
      created = created + 1
   elseif status ~= 302 then
      refused = refused + 1
   end
end
