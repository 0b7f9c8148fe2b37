/**
 * Tests settings over HTTP: shown with their source, changed in their file, and used by running processes from the next
 * carrier.
 */
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { ApiError, type SettingReply, type SettingsReply } from '../../src/wire/client/index.ts';
import { configWriter } from '../../src/config/change.ts';
import { readConfig } from '../../src/config/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

type Files = {
  readonly folder: string;
  readonly project: string;
  readonly user: string;
  readonly at: Parameters<typeof readConfig>[0];
};

function files(project: string, env: Record<string, string> = {}): Files {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = { cwd: join(folder, 'shop'), env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), ...env } };
  mkdirSync(join(at.cwd, '.git'), { recursive: true });
  writeFileSync(join(at.cwd, 'earpiece.toml'), project);
  return { folder, project: join(at.cwd, 'earpiece.toml'), user: join(folder, '.config/earpiece/earpiece.toml'), at };
}

const serving = (of: Files): Promise<Stage> =>
  Stage.open({ config: () => readConfig(of.at).config, configWriter: configWriter(of.at) });

const one = ({ settings }: SettingsReply, key: string): SettingReply => {
  const found = settings.find((each) => each.key === key);
  if (found === undefined) throw new Error(`there is no ${key}`);
  return found;
};

const refusal = async (work: Promise<unknown>): Promise<{ status: number; code: string; message: string }> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message } = error;
    return { status, code, message };
  }
  throw new Error('it was not refused');
};

verifies('server:settings', 'each setting has the way to change it, its source, and the file that a change writes', async () => {
  const at = files('# ours\n[budget]\nmax_tokens = 400\n', { EARPIECE_VIEW: 'toon' });
  await using stage = await serving(at);
  const before = await stage.client.settings();
  expect(before.places).toEqual({ user: { file: at.user, exists: false }, project: { file: at.project, exists: true } });
  expect(one(before, 'budget.max_items').change).toEqual({
    label: 'Lines of a message',
    help: 'The maximum number of lines with notifications in one message. Beyond this number, errors wait for the next message, and one line counts the other notifications.',
    form: { kind: 'number', min: 1, max: 1_000 },
    addsUp: false,
    takesEffect: 'now, from the next carrier on',
    in: { user: { decidedBy: null, set: false, says: null }, project: { decidedBy: null, set: false, says: null } },
  });
  expect(one(before, 'budget.max_tokens').change?.in).toEqual({
    user: { decidedBy: `project file ${at.project}:3:1`, set: false, says: null },
    project: { decidedBy: null, set: true, says: 400 },
  });
  const variable = { decidedBy: 'EARPIECE_VIEW', set: false, says: null };
  expect(one(before, 'view').change?.in).toEqual({ user: variable, project: variable });
  expect(one(before, 'sources.git.enable').change?.takesEffect).toBe('at the next start of earpiece chat or earpiece run');
  expect(before.settings.filter(({ change }) => change === null).map(({ key }) => key)).toEqual(
    expect.arrayContaining(['db', 'project', 'server.host', 'gateway.http.host', 'redact', 'sources.git.fetch_every']),
  );
});

verifies(
  'server:settings',
  'a change is written to the file, a repetition changes nothing, and null removes the setting',
  async () => {
    const at = files('# ours\nview = "toon" # small\n');
    await using stage = await serving(at);
    const changed = await stage.client.changeSettings({ 'budget.max_items': 3, 'conversation.notifications.enable': false });
    expect(one(changed, 'budget.max_items')).toMatchObject({ value: 3, decidedBy: `user file ${at.user}:2:1` });
    const text = readFileSync(at.user, 'utf8');
    expect(text).toBe('[budget]\nmax_items = 3\n\n[conversation.notifications]\nenable = false\n');
    expect(await stage.client.changeSettings({ 'budget.max_items': 3, 'conversation.notifications.enable': false })).toEqual(
      changed,
    );
    expect(readFileSync(at.user, 'utf8')).toBe(text);

    const over = await stage.client.changeSettings({ view: 'json' });
    expect(one(over, 'view')).toMatchObject({ value: 'toon', overridden: [{ text: 'json' }] });
    await stage.client.changeSettings({ view: 'xml' }, { scope: 'project' });
    expect(readFileSync(at.project, 'utf8')).toBe('# ours\nview = "xml" # small\n');
    await stage.client.changeSettings({ view: null }, { scope: 'project' });
    expect(readFileSync(at.project, 'utf8')).toBe('# ours\n');
    expect(one(await stage.client.settings(), 'view')).toMatchObject({ value: 'json' });
  },
);

verifies(
  'server:settings-refused',
  "a change without the right or with any invalid value is refused as a whole, in the loader's words",
  async () => {
    const at = files('');
    await using stage = await serving(at);
    const project = await stage.as({ kind: 'project', project: 'shop' });
    expect(await refusal(project.changeSettings({ view: 'xml' }))).toMatchObject({ status: 403, code: 'forbidden' });
    for (const [settings, message] of [
      [{ view: 'xml', 'budget.max_items': 0 }, 'budget.max_items is 0; write a whole number from 1 to 1000'],
      [{ veiw: 'xml' }, 'veiw is not a setting; did you mean view?'],
      [{ budget: 3 }, 'budget is a table; name one of its settings: budget.max_items, budget.max_tokens, budget.max_item_chars'],
      [{ min_level: 'warn' }, 'min_level is "warn"; write one of info, warning, error, critical'],
      [{ 'conversation.notifications.enable': 'no' }, 'conversation.notifications.enable is "no"; write true or false'],
      // These settings would run a command, open the network or move the log.
      [{ db: '/tmp/x.db' }, 'db cannot be changed over HTTP; use earpiece config set, or edit the file'],
      [{ 'server.host': '0.0.0.0' }, 'server.host cannot be changed over HTTP; use earpiece config set, or edit the file'],
      [
        { 'gateway.servers.x': 'npx' },
        'gateway.servers.x cannot be changed over HTTP; use earpiece config set, or edit the file',
      ],
      [
        { 'gateway.servers.x.command': 'npx' },
        'gateway.servers.x.command is not a setting; earpiece config explain lists all settings',
      ],
      [
        { 'sources.git.fetch_every': '10s' },
        'sources.git.fetch_every cannot be changed over HTTP; use earpiece config set, or edit the file',
      ],
      [{ project: null }, 'project cannot be changed over HTTP; use earpiece config set, or edit the file'],
    ] as const)
      expect(await refusal(stage.client.changeSettings(settings))).toMatchObject({ status: 400, code: 'bad_argument', message });
    expect(existsSync(at.user)).toBe(false);
    const raw = await stage.raw('/api/settings', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ settings: { 'budget.max_items': 'ten' } }),
    });
    expect([raw.headers.get('content-type'), await raw.json()]).toMatchObject([
      'application/problem+json',
      { status: 400, code: 'bad_argument', field: 'budget.max_items' },
    ]);
    writeFileSync(at.project, 'view = "xml"\nbudget =\n');
    expect(await refusal(stage.client.changeSettings({ view: 'toon' }, { scope: 'project' }))).toMatchObject({
      status: 400,
      code: 'bad_config',
      message: expect.stringContaining(`${at.project}:2:9: is not valid TOML`),
    });
    expect(readFileSync(at.project, 'utf8')).toBe('view = "xml"\nbudget =\n');
    await using without = await Stage.open({ config: () => readConfig(at.at).config });
    expect((await without.client.settings()).places).toBe(null);
    expect(await refusal(without.client.changeSettings({ view: 'xml' }))).toMatchObject({ status: 404 });
  },
);

verifies('server:settings-at-once', 'none of many simultaneous changes is lost', async () => {
  const at = files('');
  await using stage = await serving(at);
  const kinds = Array.from({ length: 20 }, (_, i) => `conversation.notifications.kinds."ci.k${i}"`);
  await Promise.all(kinds.map((key) => stage.client.changeSettings({ [key]: false })));
  const now = await stage.client.settings();
  expect(kinds.map((key) => one(now, key).value)).toEqual(kinds.map(() => false));
});

verifies(
  'server:settings-live',
  'an agent in another process applies a change from its next carrier on, and so does an agent of another project',
  async () => {
    const at = files('');
    await using stage = await serving(at);
    const other = join(at.folder, 'docs');
    mkdirSync(join(other, '.git'), { recursive: true });
    // The test opens two inboxes, as in two processes: the first in this project, and the second in another project.
    const db = join(at.folder, 'e.db');
    await using here = await openLoadedInbox({ ...at.at, db });
    await using there = await openLoadedInbox({ ...at.at, cwd: other, db });
    const ridden = async (ear: LoadedInbox, address: string): Promise<string[]> => {
      const offer = await ear.conversation(address).offer({ at: 'tool_result', on: 'read' });
      await offer?.confirm();
      return [...(offer?.ids ?? [])];
    };
    const tell = async (kind: string, message: string): Promise<void> => {
      for (const [ear, to] of [
        [here, 'shop/coder#main'],
        [there, 'docs/writer#main'],
      ] as const)
        await ear.queue(to, { id: message, kind, message });
    };
    await tell('ci.started', 'one');
    expect([await ridden(here, 'shop/coder#main'), await ridden(there, 'docs/writer#main')]).toEqual([['one'], ['one']]);
    await stage.client.changeSettings({ 'conversation.notifications.kinds.ci.enable': false });
    await tell('ci.started', 'two');
    await tell('deploy.done', 'three');
    expect([await ridden(here, 'shop/coder#main'), await ridden(there, 'docs/writer#main')]).toEqual([['three'], ['three']]);
    await stage.client.changeSettings({ 'conversation.notifications.kinds.ci.enable': null });
    await stage.client.changeSettings({ min_level: 'warning' }, { scope: 'project' });
    await tell('ci.started', 'four');
    expect([await ridden(here, 'shop/coder#main'), await ridden(there, 'docs/writer#main')]).toEqual([[], ['four']]);
  },
);
