import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAgent,
  fileTools,
  handleRegistry,
  openModel,
  ownTools,
  processTool,
  runTool,
  taskTools,
} from '../entries/agent.ts';
import { aiSdk } from '../entries/ai-sdk.ts';
import { createClient } from '../entries/client.ts';
import { inboxRider, startGateway } from '../entries/gateway.ts';
import { createServer } from '../entries/server.ts';
import {
  filesSource,
  gitSource,
  parseWhen,
  receive,
  receiverFrom,
  runAndTell,
  subscriberFolders,
  timersSource,
} from '../entries/sources.ts';
import { memoryStore, openSqliteStore, replay, runStoreContract, settle, touches } from '../entries/store.ts';
import { proves } from '../../e2e/verifies.ts';
import { openEarpiece, type Conversation, type Earpiece } from './index.ts';

let ear: Earpiece;
let coder: Conversation;
beforeAll(async () => {
  ear = await openEarpiece({ db: 'memory:', cwd: '/', env: { HOME: '/nowhere' } });
  coder = ear.conversation('coder');
});
afterAll(async () => ear.close());

/** Passes any value, as JavaScript can. */
const any = (value: unknown): never => value as never;
const call = async (): Promise<string> => 'x';
const server = (): ReturnType<typeof createServer> => createServer({ earpiece: ear });

/** Returns a function that starts a gateway with complete options, except for the options in `change`. */
const gateway = (change: object): (() => unknown) => {
  return () =>
    startGateway({ front: { kind: 'http' }, upstreams: [], rider: inboxRider({ earpiece: ear, agent: 'coder' }), ...change });
};

type Row = readonly [string, () => unknown, string | RegExp];

const expectText = (seen: string, expected: string | RegExp): void =>
  typeof expected === 'string' ? expect(seen).toContain(expected) : expect(seen).toMatch(expected);

const refused = async (misuse: () => unknown): Promise<string> => {
  try {
    await misuse();
  } catch (error) {
    expect(error).toMatchObject({ name: 'EarpieceError', code: 'bad_argument' });
    return (error as Error).message;
  }
  throw new Error('it was not refused');
};

it.each<Row>([
  [
    'a misspelt option of a run',
    () => aiSdk(ear, 'coder').run(call, {}, any({ kep: call })),
    'run: "kep" is not a known key; did you mean "keep"?',
  ],
  ['no function to run', () => aiSdk(ear, 'coder').run(any(undefined), {}), 'run: pass generateText, streamText or an agent'],
  ['no options of a run', () => aiSdk(ear, 'coder').run(call, any(undefined)), 'run: options is missing; pass an object'],
  ['no tools', () => aiSdk(ear, 'coder').tools(any(null)), 'tools: tools must be an object, got null'],
  [
    'the name of a model in place of a model',
    () => createAgent({ earpiece: ear, address: 'coder', model: any('gpt') }),
    'the agent needs a model of AI SDK 7 (version v4), got the text "gpt"; use openModel(',
  ],
  [
    'a model of AI SDK 6',
    () => createAgent({ earpiece: ear, address: 'coder', model: any({ specificationVersion: 'v3', provider: 'openai' }) }),
    'the agent needs a model of AI SDK 7 (version v4), got a model of version v3',
  ],
  [
    'a tool of an agent that cannot run',
    () => createAgent({ earpiece: ear, address: 'coder', model: any({}), tools: any([{ name: 'x' }]) }),
    'createAgent: tools.0 must be a tool with execute(), got an object',
  ],
  [
    'a misspelt budget of an agent',
    () => createAgent({ earpiece: ear, address: 'coder', model: any({}), budget: any({ token: 5 }) }),
    'createAgent: "budget.token" is not a known key; did you mean "tokens"?',
  ],
  [
    'a background tool that cannot run',
    () => handleRegistry({ earpiece: ear, address: 'coder', folder: '/x', tools: any([{}]) }),
    'handleRegistry: tools.0 must be a tool with run(), such as runTool(), got an object',
  ],
  [
    'a misspelt option of runTool',
    () => runTool(any({ timeoutSec: 5 })),
    'runTool: "timeoutSec" is not a known key; did you mean "timeoutSecs"?',
  ],
  ['a variable that is not a text', () => runTool({ env: any({ PORT: 80 }) }), 'runTool: env.PORT must be a text, got 80'],
  ['an unknown action at the end of a turn', () => runTool({ onTurnEnd: any('abrot') }), 'did you mean "abort"?'],
  ['file tools without a folder', () => fileTools(any({})), 'fileTools: root is missing; pass a text that is not blank'],
  [
    'file tools without options',
    () => fileTools(any(undefined)),
    'fileTools: the options must be an object with root, files, got undefined',
  ],
  [
    'a background tool without a command',
    () => processTool(any({ name: 'x', description: 'x', parameters: { properties: {} } })),
    'processTool: commandOf is missing; pass a function',
  ],
  ['own tools without an agent', () => ownTools(any({})), 'ownTools: agent is missing; pass a function'],
  ['tools for tasks without an agent', () => taskTools(any(undefined)), 'taskTools: agent is missing; pass a function'],
  [
    'a model without a name',
    () => openModel(any(undefined), {}),
    'openModel: the name of the model must be a text, got undefined',
  ],
  [
    'files that are not a source',
    () => fileTools({ root: '/x', files: any({}) }),
    'fileTools: files must be what filesSource() returns, got an object',
  ],
])('%s is refused', async (_, misuse, message) => {
  expectText(await refused(misuse), message);
});

describe('a gateway refuses', () => {
  proves('library:misuse');
  it.each<Row>([
    ['a misspelt option', gateway({ upstream: [] }), 'startGateway: "upstream" is not a known key; did you mean "upstreams"?'],
    [
      'no front',
      gateway({ front: undefined }),
      'startGateway: front is missing; pass an object whose kind is one of stdio, http',
    ],
    [
      'an unknown front',
      gateway({ front: { kind: 'htp' } }),
      'front.kind must be one of stdio, http, got "htp"; did you mean "http"?',
    ],
    [
      'a misspelt option of its front',
      gateway({ front: { kind: 'http', prot: 0 } }),
      '"front.prot" is not a known key; did you mean "port"?',
    ],
    [
      'a port above 65,535',
      gateway({ front: { kind: 'http', port: 70_000 } }),
      'front.port must be a whole number from 0 to 65535, got 70000',
    ],
    ['a path without its slash', gateway({ front: { kind: 'http', path: 'mcp' } }), 'front.path must begin with "/", got "mcp"'],
    [
      'a public host without a token',
      gateway({ front: { kind: 'http', host: '0.0.0.0' } }),
      'would let other machines connect: set a token',
    ],
    [
      'upstreams that are not a list',
      gateway({ upstreams: { kind: 'stdio' } }),
      'startGateway: upstreams must be a list, each an object whose kind',
    ],
    [
      'an upstream without a command',
      gateway({ upstreams: [{ kind: 'stdio', name: 'shop' }] }),
      'startGateway: upstreams.0.command is missing; pass a text that is not blank',
    ],
    [
      'an upstream without a scheme',
      gateway({ upstreams: [{ kind: 'http', name: 'shop', url: 'localhost:80/mcp' }] }),
      'startGateway: upstreams.0.url must be a URL such as "http://127.0.0.1:4747", got "localhost:80/mcp"',
    ],
    [
      'two upstreams with one name',
      gateway({ upstreams: [1, 2].map(() => ({ kind: 'stdio', name: 'shop', command: 'x' })) }),
      'two servers are called "shop": rename one of them',
    ],
    [
      'options in place of a rider',
      gateway({ rider: { agent: 'coder' } }),
      'startGateway: rider must be what inboxRider() returns, got an object',
    ],
    ['an unknown profile', gateway({ profile: 'block' }), 'did you mean "blocks"?'],
    [
      'a limit that is not a number',
      gateway({ profiles: { x: { kind: 'blocks', maxResultChars: 'many' } } }),
      'profiles.x.maxResultChars must be a number that is 0 or more, got "many"',
    ],
    [
      'a misspelt option of its rider',
      () => inboxRider(any({ earpiece: ear, agnet: 'coder' })),
      'inboxRider: "agnet" is not a known key; did you mean "agent"?',
    ],
    ['a rider without an earpiece', () => inboxRider(any({ agent: 'coder' })), 'inboxRider: earpiece is missing'],
    [
      'a rider with another object as its earpiece',
      () => inboxRider(any({ earpiece: {} })),
      'earpiece must be the result of openEarpiece() of this package',
    ],
    [
      'a listener that is not a function',
      () => inboxRider(any({ earpiece: ear, onTrouble: 'yes' })),
      'inboxRider: onTrouble must be a function, got "yes"',
    ],
  ])('%s', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });
});

describe('a server and its client refuse', () => {
  proves('library:misuse');
  it.each<Row>([
    [
      'a misspelt option',
      () => createServer(any({ earpiece: ear, alowedHosts: [] })),
      'createServer: "alowedHosts" is not a known key; did you mean "allowedHosts"?',
    ],
    [
      'a host in place of a list',
      () => createServer(any({ earpiece: ear, allowedHosts: 'x' })),
      'createServer: allowedHosts must be a list, each a text that is not blank, got "x"',
    ],
    ['a misspelt rate', () => createServer(any({ earpiece: ear, rates: { tokens: {} } })), 'did you mean "token"?'],
    [
      'a port above 65,535',
      () => server().listen({ port: 70_000 }),
      'listen: port must be a whole number from 0 to 65535, got 70000',
    ],
    [
      'a port in place of an object',
      () => server().listen(any(4747)),
      'listen: the options must be an object with host, port, got 4747',
    ],
    [
      'a second listen() of one server',
      async () => {
        const twice = server();
        await twice.listen({ port: 0 });
        try {
          await twice.listen({ port: 0 });
        } finally {
          await twice.stop();
        }
      },
      /^this server already listens at http:\/\/127\.0\.0\.1:\d+; create another/u,
    ],
    [
      'an unknown kind of token',
      () => server().tokens.create(any({ kind: 'sned', name: 'x' })),
      'tokens.create: kind must be one of admin, project, agent, send, got "sned"; did you mean "send"?',
    ],
    ['a token without a name', () => server().tokens.create(any({ kind: 'admin' })), 'tokens.create: name is missing'],
    [
      'a token that ends before it begins',
      () => server().tokens.create({ kind: 'admin', name: 'x', expiresInMs: 0 }),
      'must last at least one second, got 0 ms; write 1000 or more',
    ],
    ['a token id that is not a text', () => server().tokens.revoke(any(5)), 'tokens.revoke: the id must be a text, got 5'],
    [
      'a misspelt option of a client',
      () => createClient(any({ uri: 'http://x' })),
      'createClient: "uri" is not a known key; did you mean "url"?',
    ],
    [
      'a URL without a scheme',
      () => createClient({ url: '127.0.0.1:4747' }),
      'createClient: url must be a URL such as "http://127.0.0.1:4747", got "127.0.0.1:4747"',
    ],
    ['no URL', () => createClient(), 'createClient: url is missing; pass the URL of the server, such as "http://127.0.0.1:4747"'],
    [
      'a token that is not a text',
      () => createClient({ url: 'http://x', token: any(5) }),
      'createClient: token must be a text that is not blank, got 5',
    ],
  ])('%s', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });
});

describe('stores and sources refuse', () => {
  proves('library:misuse');
  const git = { earpiece: any(undefined), subject: 'coder', root: '/' };
  const remind = (when: unknown) => () => timersSource({ earpiece: ear }).remind(any({ subject: 'coder', message: 'x', when }));
  it.each<Row>([
    [
      'a misspelt option of a memory store',
      () => memoryStore(any({ clok: 1 })),
      'memoryStore: "clok" is not a known key; did you mean "clock"?',
    ],
    ['a clock without now()', () => memoryStore({ clock: any(5) }), 'memoryStore: clock must be an object with now(), got 5'],
    [
      'a path in place of options',
      () => openSqliteStore(any('a.db')),
      'openSqliteStore: the options must be an object with path, clock,',
    ],
    ['no path', () => openSqliteStore(any({})), 'openSqliteStore: path is missing; pass a text that is not blank'],
    ['a misspelt option', () => openSqliteStore(any({ path: '/x/a.db', busyMS: 5 })), 'did you mean "busyMs"?'],
    [
      'a misspelt option of files',
      () => filesSource(any({ ...git, earpiece: ear, glob: ['x'] })),
      'filesSource: "glob" is not a known key; did you mean "globs"?',
    ],
    [
      'a source without an earpiece',
      () => gitSource(any({ ...git, earpiece: {} })),
      'earpiece must be the result of openEarpiece() of this package',
    ],
    [
      'a command with its arguments as one text',
      () => runAndTell(any({ earpiece: ear, subject: 'coder', command: 'make', args: 'test' })),
      'runAndTell: args must be a list, each a text, got "test"',
    ],
    ['reminders without an earpiece', () => timersSource(any({})), 'timersSource: earpiece is missing'],
    [
      'a file in memory, as SQLite spells it',
      () => openSqliteStore({ path: ':memory:' }),
      'path ":memory:" would create a file with this name; use memoryStore()',
    ],
    [
      'a database in memory, as SQLite spells it',
      () => openEarpiece({ db: ':memory:' }),
      '":memory:" would be a file of that name; for a store in memory write memory:',
    ],
    [
      'a database in memory without the colon',
      () => openEarpiece({ db: 'memory' }),
      '"memory" would be a new file with this name; for a store in memory write memory:, for the file write "sqlite:memory"',
    ],
    [
      'a transcript of the AI SDK to which nothing can be added',
      () =>
        aiSdk(ear, 'coder').run(
          any(() => ({})),
          any({ messages: Object.freeze([]) }),
        ),
      'run: messages must be a list to which run can add messages, got a frozen list; pass [...messages]',
    ],
    [
      'a mute that ends before it begins',
      () => ear.mute('coder', '*', { by: 'anna', forMs: -1 }),
      'mute: forMs must be a number greater than 0, got -1',
    ],
    [
      'a negative limit of tasks',
      () => ear.tasks.list({ limit: -1 }),
      'list: limit must be a whole number that is 0 or more, got -1',
    ],
    ['half a task', () => ear.tasks.list({ limit: 1.5 }), 'list: limit must be a whole number that is 0 or more, got 1.5'],
    [
      'half a notification',
      () => ear.conversation('coder').notifications({ limit: 1.5 }),
      'notifications: limit must be a whole number that is 0 or more, got 1.5',
    ],
    [
      'a project folder that does not exist',
      () => openEarpiece({ db: 'memory:', cwd: '/nope/x' }),
      'openEarpiece: cwd "/nope/x" is not a folder; create the folder first, or name another folder',
    ],
    [
      'a root for files that does not exist',
      () => filesSource({ earpiece: ear, subject: 'coder', root: '/nope/x' }),
      'filesSource: root "/nope/x" is not a folder',
    ],
    [
      'a repository that does not exist',
      () => gitSource({ earpiece: ear, subject: 'coder', root: '/nope/x' }),
      'gitSource: root "/nope/x" is not a folder',
    ],
    ['a reminder without a time', remind(undefined), 'remind: when is missing; pass an object'],
    ['a reminder at a time in words', remind('in 10m'), 'remind: when must be an object with at, inMs, afterTurns, got "in 10m"'],
    ['a reminder at no time', remind({}), 'remind: when must have exactly one of at, inMs and afterTurns, got none'],
    ['a reminder in the past', remind({ at: 5 }), 'remind: when {"at":5} has passed; write a future time'],
    ['a reminder in a negative number of milliseconds', remind({ inMs: -1 }), 'remind: when {"inMs":-1} has passed'],
    ['a reminder in five years', remind({ inMs: 5 * 366 * 86_400_000 }), 'is more than a year away; write a time within a year'],
    ['a reminder after 0 turns', remind({ afterTurns: 0 }), 'must be a whole number of turns from 1 to 1000'],
    [
      'a misspelt reminder',
      () => timersSource({ earpiece: ear }).remind(any({ subject: 'coder', mesage: 'x', when: { inMs: 5 } })),
      'remind: "mesage" is not a known key; did you mean "message"?',
    ],
    [
      'a time without a zone',
      () => parseWhen('in 10m', any(undefined)),
      'parseWhen: the options must be an object with now, timeZone',
    ],
    [
      'an unknown time zone',
      () => parseWhen('in 10m', { now: 0, timeZone: 'Mars' }),
      'parseWhen: timeZone must be the name of a time zone such as "Europe/Berlin" or "UTC", got "Mars"',
    ],
    [
      'a receiver of an unknown kind',
      () => receiverFrom('ci', any({ kind: 'gitlab', to: 'shop/coder', secretEnv: 'X' }), {}),
      'receiverFrom: kind must be one of cloudevents, github, standard, alertmanager, json, got "gitlab"',
    ],
    [
      'a receiver for an agent without a project',
      () => receiverFrom('ci', { kind: 'json', to: 'coder', secretEnv: 'X' }, {}),
      'receiverFrom: to: address "coder": has no "/" between project and agent; write project/agent',
    ],
    ['a missing request', () => receive(any(undefined)), 'receive: the request must be an object with headers, body,'],
    [
      'a body that is not a Buffer',
      () => receive(any({ headers: {}, body: '{}', receiver: {}, now: 0 })),
      'receive: body must be a Buffer, got "{}"',
    ],
    ['no draft to settle', () => settle(any(undefined), { seq: 1, at: 1 }, []), 'settle: the type of the draft must be a text'],
    ['a draft without a type', () => touches(any({})), 'touches: the type of the draft must be a text, got undefined'],
    ['no records to replay', () => replay(any(undefined)), 'replay: records must be a list, got undefined'],
    [
      'a contract without a test runner',
      async () => runStoreContract('mine', { make: () => memoryStore() }, any(undefined)),
      'runStoreContract: the third argument has no describe(); pass { describe, test } of node:test or of vitest',
    ],
    [
      'a contract without a store',
      async () => runStoreContract('mine', any({}), { describe, test: it }),
      'the store "mine" has no make(): add make(), which opens a new, empty store',
    ],
    ['a folder of subscribers without a root', () => subscriberFolders(any({})), 'subscriberFolders: root is missing'],
  ])('%s', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });
});

describe('the error names a missing await', () => {
  proves('library:misuse');
  it.each<Row>([
    [
      'of content',
      () => coder.toolResult({ id: 'c', content: any(call()) }),
      'toolResult: content must be a text, got a promise; await it',
    ],
    ['of an id', () => ear.receipt(any(call())), 'receipt: the id must be a text, got a promise; await it'],
    [
      'of a notification',
      () => ear.queue('coder', any(call())),
      /^queue: the notification must be an object with .*, got a promise; await it$/u,
    ],
    ['of an earpiece', () => inboxRider({ earpiece: any(call()) }), 'earpiece is a promise; await openEarpiece()'],
  ])('%s', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });

  it.each<Row>([
    [
      'a text as a notification',
      () => ear.queue('coder', any('hello')),
      /^queue: the notification must be an object .*got "hello"/u,
    ],
    ['a text as an event', () => ear.events.emit(any('x')), /^emit: the event must be an object with .*, got "x"$/u],
  ])('%s is refused, and the error shows the text', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });
});

describe('values that throw when they are read are refused, and the error names their key', () => {
  proves('library:misuse');
  const boom = (): never => {
    throw new Error('boom');
  };
  const throwing = (key: string, rest: object): never =>
    any(Object.defineProperty({ ...rest }, key, { get: boom, enumerable: true }));
  const trap = (name: keyof ProxyHandler<object>): never => any(new Proxy({ message: 'x' }, { [name]: boom }));
  const revoked = (): never => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return any(proxy);
  };
  it.each<Row>([
    [
      'a getter',
      () => ear.queue('coder', throwing('level', { message: 'x' })),
      'queue: level cannot be read (boom); pass plain values',
    ],
    [
      'a getter inside',
      () => ear.queue('coder', { message: 'x', deliver: throwing('inMs', {}) }),
      'queue: deliver.inMs cannot be read (boom)',
    ],
    [
      'a getter in data',
      () => ear.queue('coder', { message: 'x', data: { a: [throwing('b', {})] } }),
      'queue: data.a.0.b cannot be read (boom)',
    ],
    ['toJSON', () => ear.queue('coder', { message: 'x', data: any({ toJSON: boom }) }), 'queue: data cannot be read (boom)'],
    ['a Proxy that has no keys', () => ear.queue('coder', trap('ownKeys')), 'queue: the notification cannot be read (boom)'],
    ['a Proxy that has no values', () => ear.queue('coder', trap('get')), 'queue: id cannot be read (boom)'],
    [
      'a Proxy that has nothing',
      () => ear.withdraw('coder', trap('has'), { by: 'me', reason: 'x' }),
      'withdraw: "message" is not a known key',
    ],
    ['a revoked Proxy', () => ear.queue('coder', revoked()), 'queue: the notification cannot be read (Cannot perform'],
    [
      'a revoked Proxy as a name',
      () => ear.queue(revoked(), { message: 'x' }),
      'queue: the name of the agent must be a text, got an object that cannot be read',
    ],
    [
      'a revoked Proxy as content',
      () => coder.toolResult({ id: 'c', content: revoked() }),
      'toolResult: content must be a text, got an object that cannot be read',
    ],
    ['a getter of an option', () => openEarpiece(throwing('db', {})), 'openEarpiece: db cannot be read (boom)'],
    ['a getter of a store', () => openEarpiece({ db: throwing('append', {}) }), 'openEarpiece: db cannot be read (boom)'],
    [
      'a getter of a setting',
      () => openEarpiece({ db: 'memory:', policy: throwing('maxItems', {}) }),
      'openEarpiece: policy.maxItems cannot be read (boom)',
    ],
    [
      'a getter inside of a setting',
      () => openEarpiece({ db: 'memory:', policy: { ttlMs: throwing('info', {}) } }),
      'openEarpiece: policy cannot be read (boom)',
    ],
    [
      'a Proxy as an earpiece',
      () => inboxRider({ earpiece: revoked() }),
      'earpiece must be the result of openEarpiece() of this package',
    ],
    [
      'a getter of an event',
      () => ear.events.emit(throwing('data', { type: 'a.b', source: 'x', subject: 'coder' })),
      'emit: data cannot be read (boom)',
    ],
  ])('%s', async (_, misuse, message) => {
    expectText(await refused(misuse), message);
  });
});

it('an item is settled once, even if its record names an audience or an id twice', () => {
  const queued = { type: 'system_notification_queued', id: 'n1', kind: 'a.b', message: 'x', audience: ['a', 'a', 'b'] };
  const made = settle(any(queued), { seq: 1, at: 1 }, []);
  expect(made.kind === 'settled' && made.items.map(({ audience }) => audience)).toEqual(['a', 'b']);
  const extended = { type: 'notification_extended', ids: ['n1', 'n1'], conversation: 'c', reason: 'x' };
  const more = settle(any(extended), { seq: 2, at: 2 }, made.kind === 'settled' ? made.items : []);
  expect(more.kind === 'settled' && more.items.map(({ audience }) => audience)).toEqual(['c']);
});
