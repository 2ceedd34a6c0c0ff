-- Asks for the codes of a file, one after the other, again and again.
-- Arguments: the file with the codes, the file with further header lines.

local requests = {}
local last = 0

function init(arguments)
   local extra = assert(io.open(arguments[2], "rb")):read("*a")
   for code in io.lines(arguments[1]) do
      requests[#requests + 1] = "GET /" .. code .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\n" .. extra .. "\r\n"
   end
end

function request()
   last = last % #requests + 1
   return requests[last]
end

