-- Put behind each of the other scripts: the result as one line.

local threads = {}

function setup(thread)
   threads[#threads + 1] = thread
end

function done(summary, latency)
   local created, refused = 0, 0
   for _, thread in ipairs(threads) do
      created = created + (thread:get("created") or 0)
      refused = refused + (thread:get("refused") or 0)
   end
   local errors = summary.errors
   io.write(string.format(
      '\nRESULT {"requests": %d, "microseconds": %d, "bytes": %d, "bad_status": %d, "broken": %d, '
         .. '"created": %d, "refused": %d, "p50": %f, "p95": %f, "p99": %f, "longest": %f}\n',
      summary.requests, summary.duration, summary.bytes, errors.status,
      errors.connect + errors.read + errors.write + errors.timeout, created, refused,
      latency:percentile(50), latency:percentile(95), latency:percentile(99), latency.max
   ))
end
