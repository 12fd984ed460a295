"""The steps of a send record as Lua scripts, one a step, for every store that speaks Redis.

A script runs as one atomic unit and takes the time from the server (Redis, `EVAL`; effects are replicated, not the
script). Each is given `KEYS[1]`, the record, `KEYS[2]`, the claims of the last hour, and `KEYS[3]`, the content. Binary
values are base64, so that they survive interfaces that carry text only. An answer is a list of strings whose first is a
word.

The record is one hash: status owner digest kept expires nonce stale at reason refused sent_copy. It alone decides:
where there is none, nothing can be claimed, whatever else there is. The content lies beside it because only a key has a
life of its own in every version of Redis: the record of a claim whose process died is kept for days, and its content
ends with its deadline although nobody comes back. Either key without the other gives nothing that could be sent.
"""

from __future__ import annotations

from typing import Final

_PRELUDE: Final = """
local key, content_key = KEYS[1], KEYS[3]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function ms(number) return string.format('%.0f', number) end
local function get(name) return redis.call('HGET', key, name) or '' end
local function stale() return now > tonumber(get('stale')) end
local function change(retention, ...)
  redis.call('HSET', key, 'at', ms(now), ...)
  redis.call('PEXPIRE', key, retention)
end
local function finish(retention, status, reason, refused)
  redis.call('DEL', content_key)
  change(retention, 'status', status, 'reason', reason, 'refused', refused)
end
local function abandon(retention)
  if get('status') == 'claimed' and stale() then finish(retention, 'not_sent', '', '') end
end
local function record()
  local status = get('status')
  if status == 'submitting' and stale() then status = 'unknown' end
  return {'record', status, get('at'), get('reason'), get('kept'), get('refused'), get('sent_copy')}
end
"""

PREPARE: Final = (
    _PRELUDE
    + """
local owner, digest, content, kept, lifetime = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
if redis.call('EXISTS', key, content_key) > 0 then return {'exists'} end
local expires = ms(now + lifetime)
redis.call('SET', content_key, content, 'PX', lifetime)
redis.call('HSET', key, 'status', 'prepared', 'owner', owner, 'digest', digest, 'kept', kept, 'expires', expires,
  'at', ms(now))
redis.call('PEXPIRE', key, lifetime)
return {'prepared', expires}
"""
)

LOOK: Final = (
    _PRELUDE
    + """
if get('status') ~= 'prepared' or get('owner') ~= ARGV[1] or now >= tonumber(get('expires')) then return {'absent'} end
local content = redis.call('GET', content_key)
if not content then return {'absent'} end
return {'prepared', content}
"""
)

CLAIM: Final = (
    _PRELUDE
    + """
local owner, digest, nonce, deadline, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local window, retention, id = tonumber(ARGV[6]), ARGV[7], ARGV[8]
local status = get('status')
if status == '' or get('owner') ~= owner then return {'absent'} end
local content = redis.call('GET', content_key)
if status == 'prepared' and (now >= tonumber(get('expires')) or not content) then
  redis.call('DEL', key, content_key)
  return {'absent'}
end
if get('digest') ~= digest then return {'mismatch'} end
if status == 'claimed' and get('nonce') == nonce and content and not stale() then return {'claimed', content} end
if status ~= 'prepared' then
  abandon(retention)
  return record()
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ms(now - window))
if limit > 0 and redis.call('ZCARD', KEYS[2]) >= limit then return {'limit'} end
redis.call('ZADD', KEYS[2], ms(now), id)
redis.call('PEXPIRE', KEYS[2], window)
change(retention, 'status', 'claimed', 'nonce', nonce, 'stale', ms(now + deadline))
redis.call('PEXPIRE', content_key, deadline)
return {'claimed', content}
"""
)

BEGIN: Final = (
    _PRELUDE
    + """
local nonce, retention = ARGV[1], ARGV[2]
if get('nonce') ~= nonce then return {'no'} end
abandon(retention)
local status = get('status')
if (status ~= 'claimed' and status ~= 'submitting') or stale() then return {'no'} end
if status == 'claimed' then
  redis.call('DEL', content_key)
  change(retention, 'status', 'submitting')
end
return {'yes'}
"""
)

SETTLE: Final = (
    _PRELUDE
    + """
local nonce, retention, outcome, reason, refused = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local status = get('status')
if status == '' or status == 'prepared' then return {'absent'} end
if get('nonce') == nonce and (status == 'claimed' or status == 'submitting') then
  finish(retention, outcome, reason, refused)
end
return record()
"""
)

NOTE_COPY: Final = (
    _PRELUDE
    + """
local nonce, copy, status = ARGV[1], ARGV[2], get('status')
if get('nonce') ~= nonce or status == 'claimed' or status == 'submitting' then return {'no'} end
redis.call('HSET', key, 'sent_copy', copy)
return {'yes'}
"""
)

CHECK: Final = "return {'here', redis.call('TIME')[1]}"
