/** Tests that an error about a request names the field, the value and the allowed values. */
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

type Row = readonly [what: string, method: string, path: string, body: unknown, detail: string];

const note = (more: object): object => ({ to: 'shop/coder', message: 'x', ...more });

const ROWS: readonly Row[] = [
  ['nothing', 'POST', '/api/notifications', {}, 'to is missing: give a text'],
  ['a list', 'POST', '/api/notifications', [], 'the body is a list: give an object'],
  ['null', 'POST', '/api/notifications', null, 'the body is null: give an object'],
  ['a number as a text', 'POST', '/api/notifications', note({ message: 5 }), 'message 5: must be a text'],
  [
    'an unknown level',
    'POST',
    '/api/notifications',
    note({ level: 'warnin' }),
    'level "warnin": must be one of info, warning, error, critical; did you mean warning?',
  ],
  [
    'an unknown moment',
    'POST',
    '/api/notifications',
    note({ deliver: 'nxt' }),
    'deliver "nxt": must be one of next, after_tool, next_cycle, cycle_end, turn_start, turn_end, now; did you mean next?',
  ],
  [
    'a moment that is too small',
    'POST',
    '/api/notifications',
    note({ deliver: { afterTurns: 0 } }),
    'deliver.afterTurns 0: must be at least 1',
  ],
  ['an object as a text', 'POST', '/api/notifications', note({ kind: { source: 'a' } }), 'kind {"source":"a"}: must be a text'],
  ['an empty text', 'POST', '/api/resume', { to: '' }, 'to "": must have at least 1 character'],
  ['a limit of 0', 'GET', '/api/notifications?limit=0', undefined, 'the query: limit "0": must be at least 1'],
  ['a limit that is too large', 'GET', '/api/notifications?limit=1e9', undefined, 'the query: limit "1e9": must be at most 200'],
  ['a limit that is no number', 'GET', '/api/notifications?limit=abc', undefined, 'the query: limit "abc": must be a number'],
  [
    'an invalid cursor',
    'GET',
    '/api/notifications?before=zzz',
    undefined,
    'the query: before "zzz": must be the `next` of the previous page',
  ],
  [
    'a misspelt record type',
    'GET',
    '/api/stream?types=turn_start,system_notification_queud',
    undefined,
    'the query: types "turn_start,system_notification_queud": "system_notification_queud" is not a record type; did you mean "system_notification_queued"?',
  ],
  [
    'a list of no record types',
    'GET',
    '/api/stream?types=,',
    undefined,
    'the query: types ",": the list is empty; name a record type, or leave the list out to get all records',
  ],
  [
    'a key that is not known',
    'GET',
    '/api/notifications?lmit=3',
    undefined,
    'the query: "lmit" is not known here; did you mean limit?',
  ],
];

test.for([
  ['{bad', 'the body is not valid JSON; it begins with "{bad"'],
  ['', 'the body is not valid JSON: it is empty'],
] as const)('a body that is not JSON is refused with the reason: %j', async ([body, detail]) => {
  proves('server:bad-input');
  await using stage = await Stage.open({ db: 'memory:' });
  const answer = await stage.raw('/api/notifications', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(await answer.json()).toMatchObject({ status: 400, code: 'bad_argument', detail });
});

test.for(ROWS)('the error about a bad request names the wrong field: %s', async ([, method, path, body, detail]) => {
  proves('server:bad-input');
  await using stage = await Stage.open({ db: 'memory:' });
  const answer = await stage.raw(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(await answer.json()).toMatchObject({ status: 400, code: 'bad_argument', detail });
});
