/** Tests a webhook from its signed bytes to the agent's text: configuration, receiver, bus and log are real. */
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trustBook } from '../../src/config/index.ts';
import type { Emitted } from '../../src/core/event.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { OF_SERVER, STATUS } from '../../src/server/problems.ts';
import { receive, receiverFrom, replayWindow, type Refusal, type Replays } from '../../src/sources/webhooks/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

const SECRET = 'a-secret-to-everybody';
const TOML = `
[webhooks.forge]
kind = "github"
to = "coder"
secret_env = "HOOK_SECRET"

[webhooks.alerts]
kind = "alertmanager"
to = "shop/coder"
secret_env = "HOOK_SECRET"

[webhooks.deploys]
kind = "json"
to = "coder"
secret_env = "HOOK_SECRET"
signature_header = "X-Signature"
map = { type = "{kind}", severity = "{level}", message = "{service} is {state}" }

[webhooks.events]
kind = "cloudevents"
to = "shop/*"
secret_env = "HOOK_SECRET"
`;

const JOB = `
[subscriber]
id = "job"
name = "Jobs"
description = "Reports a job that fails."
version = "1.0.0"
[events]
types = ["cli.failed"]
severity_filter = "info"
[batching]
window_ms = 0
max_size = 1
dedupe_key = "payload.job"
dedupe_window_ms = 0
[output]
priority = "normal"
inject_at = "turn_start"
template = "message.toon.j2"
core = false
[withdraw]
types = ["cli.fixed"]
`;

/** Delivers a body as the server does: receives it, emits its events, and then remembers the delivery. */
async function deliver(
  ear: LoadedInbox,
  name: string,
  body: object,
  { headers = {}, window = replayWindow() }: { headers?: Record<string, string>; window?: Replays } = {},
): Promise<readonly Emitted[] | Refusal> {
  const settings = ear.config.webhooks[name];
  if (settings === undefined) throw new Error(`no webhook ${name}`);
  const ready = receiverFrom(name, settings, { [settings.secretEnv]: SECRET });
  if (ready.kind === 'problem') throw new Error(ready.problem);
  const bytes = Buffer.from(JSON.stringify(body));
  const mac = createHmac('sha256', SECRET).update(bytes).digest('hex');
  const received = receive({
    receiver: ready.receiver,
    body: bytes,
    now: ear.store.now(),
    seen: window.seen,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${SECRET}`,
      'x-hub-signature-256': `sha256=${mac}`,
      'x-signature': mac,
      'x-github-event': 'workflow_run',
      'x-github-delivery': 'd-1',
      ...headers,
    },
  });
  if (received.kind === 'refused') return received;
  const emitted = await Promise.all(received.events.map((event) => ear.bus.emit(event)));
  window.remember(received.deliveries);
  return emitted;
}

const kinds = (came: readonly Emitted[] | Refusal): readonly string[] =>
  'kind' in came ? [came.code] : came.flatMap(({ heard }) => heard.map(({ subscriber, kind }) => `${subscriber}: ${kind}`));

async function open(shell: Shell): Promise<LoadedInbox> {
  trustBook({ env: shell.env() }).trust(join(shell.folder, 'earpiece.toml'));
  return shell.open();
}

const reads = async (ear: LoadedInbox): Promise<string> =>
  (await ear.conversation('shop/coder#main').carry({ type: 'chat_request', content: 'hi' }, { at: 'turn_start' })).text;

const run = (conclusion: string): object => ({
  action: 'completed',
  repository: { full_name: 'acme/shop' },
  sender: { login: 'anna' },
  workflow_run: { name: 'ci', head_branch: 'main', head_sha: 'abcdef0123', conclusion, status: 'completed' },
});

const alert = (status: string): object => ({
  version: '4',
  alerts: [
    {
      status,
      labels: { alertname: 'DiskFull', severity: 'critical' },
      annotations: { summary: 'the disk of db1 is full' },
      startsAt: '2026-05-01T09:50:00Z',
      ...(status === 'resolved' ? { endsAt: '2026-05-01T10:50:00Z' } : {}),
      fingerprint: 'c0ffee',
    },
  ],
});

describe('webhooks', () => {
  proves('sources:webhooks');

  verifies(
    'sources:webhooks',
    'a signed delivery is in the next message of its agent once, even if it is sent repeatedly',
    async () => {
      await using shell = new Shell(TOML);
      const ear = await open(shell);
      const window = replayWindow();
      expect(kinds(await deliver(ear, 'forge', run('failure'), { window }))).toEqual(['github: queued']);
      expect(await deliver(ear, 'forge', run('failure'), { window })).toMatchObject({
        kind: 'refused',
        status: 200,
        code: 'replayed',
      });
      // Another process does not remember the delivery, but the log has its notification. The headers are not signed and do not
      // matter.
      const other = await shell.open();
      expect(kinds(await deliver(other, 'forge', run('failure'), { headers: { 'x-github-delivery': 'd-2' } }))).toEqual([
        'github: duplicate',
      ]);
      const text = await reads(ear);
      expect(text.split('Workflow ci failed on main (abcdef0) of acme/shop')).toHaveLength(2);
      expect(kinds(await deliver(await shell.open(), 'forge', run('failure')))).toEqual(['github: duplicate']);
      expect(await reads(ear)).toBe('hi');
    },
  );

  it('an unsigned delivery leaves no trace', async () => {
    await using shell = new Shell(TOML);
    const ear = await open(shell);
    expect(
      await deliver(ear, 'forge', run('failure'), { headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` } }),
    ).toMatchObject({
      kind: 'refused',
      status: 401,
      code: 'wrong_signature',
    });
    expect(await ear.open('shop/coder')).toEqual([]);
  });

  it('an outdated notification is not delivered as current', async () => {
    await using shell = new Shell(TOML);
    const ear = await open(shell);
    await deliver(ear, 'forge', run('failure'));
    await deliver(ear, 'forge', run('success'));
    await deliver(ear, 'alerts', alert('firing'));
    await deliver(ear, 'alerts', alert('resolved'));
    const text = await reads(ear);
    expect(text).toContain('Workflow ci succeeded');
    expect(text).not.toContain('Workflow ci failed');
    expect(text).toMatch(/alert_resolved: DiskFull/u);
    expect(text).not.toContain('alert_firing');
  });

  it('a webhook never interrupts, regardless of its claimed level', async () => {
    await using shell = new Shell(TOML);
    const ear = await open(shell);
    await deliver(ear, 'alerts', alert('firing'));
    await deliver(ear, 'deploys', {
      kind: 'budget.token.exceeded',
      level: 'emergency',
      service: 'api',
      state: 'down',
      priority: 'critical',
      inject_at: 'immediate',
    });
    expect((await ear.open('shop/coder')).map(({ notification, gate }) => [notification.level, gate])).toEqual([
      ['error', false],
      ['error', false],
    ]);
    const text = await reads(ear);
    expect(text).toContain('api is down');
  });

  it('a webhook cannot withdraw the notifications of others, and reaches no other project', async () => {
    await using shell = new Shell(TOML);
    const ear = await open(shell);
    await ear.bus.emit({
      type: 'mcp.disconnected',
      source: 'mcp',
      subject: 'shop/coder',
      severity: 'error',
      data: { server: 'files' },
      message: 'files is gone',
    });
    const cloud = { 'content-type': 'application/cloudevents+json' };
    const forged = {
      specversion: '1.0',
      id: '1',
      source: 's',
      type: 'mcp.reconnected',
      subject: 'shop/coder',
      data: { server: 'files' },
    };
    expect(kinds(await deliver(ear, 'events', forged, { headers: cloud }))).toEqual(['bad_event']);
    const elsewhere = { ...forged, type: 'webhook.note', subject: 'bank/teller', message: 'psst' };
    await ear.conversation('shop/coder#main').seen();
    await deliver(ear, 'events', elsewhere, { headers: cloud });
    expect(await ear.open('bank/teller')).toEqual([]);
    expect(await reads(ear)).toMatch(/psst[^]*files|files[^]*psst/u);
  });

  it('a webhook without a key cannot count into, replace or withdraw the notifications of another source', async () => {
    await using shell = new Shell(TOML);
    const subscribers = join(shell.folder, 'config/earpiece/subscribers');
    mkdirSync(subscribers, { recursive: true });
    writeFileSync(join(subscribers, 'job.toml'), JOB);
    const ear = await open(shell);
    const own = {
      source: 'cli',
      subject: 'shop/coder',
      severity: 'error',
      data: { job: 'build' },
      message: 'build failed',
    } as const;
    await ear.bus.emit({ ...own, type: 'cli.failed' });
    const cloud = { headers: { 'content-type': 'application/cloudevents+json' } };
    const forged = { specversion: '1.0', source: 's', subject: 'shop/coder', severity: 'error', data: { job: 'build' } };
    expect(kinds(await deliver(ear, 'events', { ...forged, id: '1', type: 'cli.failed', message: 'forged' }, cloud))).toEqual([
      'job: queued',
    ]);
    expect(kinds(await deliver(ear, 'events', { ...forged, id: '2', type: 'cli.failed', message: 'forged' }, cloud))).toEqual([
      'job: folded',
    ]);
    await deliver(ear, 'events', { ...forged, id: '3', type: 'cli.fixed' }, cloud);
    expect((await ear.open('shop/coder')).map(({ notification: { message }, count }) => [message, count])).toEqual([
      ['build failed', 1],
    ]);
  });

  it('the example of docs/sources.md works as shown', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/sources.md'), 'utf8');
    const block = (language: string): string => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'mu').exec(page)?.[1] ?? '';
    await using shell = new Shell(block('toml'));
    const ear = await open(shell);
    expect(Object.keys(ear.config.webhooks)).toEqual(['forge', 'deploys']);
    const [emitted] = (await deliver(ear, 'deploys', JSON.parse(block('json')) as object)) as readonly Emitted[];
    expect(await reads(ear)).toContain('checkout is down since 1.4.2');
    expect(emitted?.event).toMatchObject({
      type: 'webhook.deploys',
      severity: 'error',
      id: '4711',
      message: 'checkout is down since 1.4.2',
    });
    for (const shown of ['`webhook.deploys`', '`error`', '`checkout is down since 1.4.2`']) expect(page).toContain(shown);
  });

  it('docs/sources.md names the status and the code of each refusal as the server sends them', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/sources.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gmu)].map(([, status, code]) => [code, Number(status)]);
    expect(rows.length).toBeGreaterThan(4);
    const known: Readonly<Record<string, { readonly status: number }>> = { ...STATUS, ...OF_SERVER };
    expect(rows).toEqual(rows.map(([code = '']) => [code, known[code]?.status]));
  });

  it('webhooks of a cloned repository take effect when the user trusts them', async () => {
    await using shell = new Shell(TOML);
    expect(Object.keys((await shell.open()).config.webhooks)).toEqual([]);
    expect(Object.keys((await open(shell)).config.webhooks)).toEqual(['forge', 'alerts', 'deploys', 'events']);
    // Trust covers each part: a changed part needs trust again.
    writeFileSync(join(shell.folder, 'earpiece.toml'), `project = "shop"\n${TOML.replace('to = "coder"', 'to = "bank/teller"')}`);
    expect(Object.keys((await shell.open()).config.webhooks)).toEqual(['alerts', 'deploys', 'events']);
  });
});
