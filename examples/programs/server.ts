// The HTTP server in this process, its typed client with a stream, tokens of two kinds, and the refusals of tokens without
// permission.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';
import { ApiError, createClient } from 'earpiece/client';
import { createServer } from 'earpiece/server';

await using ear = await openEarpiece({ db: 'memory:', cwd: import.meta.dirname });
const server = createServer({ earpiece: ear });
const { url } = await server.listen({ port: 0 });
const { project } = ear;
const to = `${project}/coder`;

const ci = await server.tokens.create({ kind: 'send', name: 'ci', project });
const me = await server.tokens.create({ kind: 'project', name: 'me', project, expiresInMs: 60_000 });
const other = await server.tokens.create({ kind: 'project', name: 'other', project: 'elsewhere' });
const sender = createClient({ url, token: ci.token });
const person = createClient({ url, token: me.token });

// A stream begins at a position of the log, so it misses no notification that is queued meanwhile.
const { head } = await person.log({ log: to, newest: true });
const { id } = await sender.queue({ to, kind: 'ci.failed', level: 'critical', message: 'CI failed on main' });
for await (const { body } of person.stream({ log: to, after: head })) {
  if (body.type === 'system_notification_queued') break;
}
// A send token queues at most with level error, so a leaked token cannot stop an agent.
const [waiting] = (await person.notifications({ log: to })).items;
console.log(`${waiting?.level}: ${waiting?.message}`);

console.log(await refusal(sender.notifications({ log: to })));
console.log(await refusal(sender.queue({ to, message: 'x', action: 'pause' })));
console.log(await refusal(createClient({ url, token: other.token }).notifications({ log: to })));
console.log(await refusal(createClient({ url, token: 'ep_wrong' }).queue({ to, message: 'x' })));
console.log(await refusal(person.queue({ to: 'a/b/c', message: 'x' })));

async function refusal(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ApiError);
  return `${error.status} ${error.code}`;
}

await ear.conversation('coder').toolResult({ id: 'c1', content: 'deployed' });
console.log((await person.receipt(id, { until: 'delivered', withinMs: 5_000 })).receipt);

await server.tokens.revoke(ci.id);
console.log(await refusal(sender.queue({ to, message: 'x' })));
console.log((await server.tokens.list()).map(({ name }) => name).toSorted());
await server.stop();

// Output:
// error: CI failed on main
// 403 forbidden
// 403 forbidden
// 403 forbidden
// 401 unauthorized
// 400 bad_address
// delivered
// 401 unauthorized
// [ 'me', 'other' ]
