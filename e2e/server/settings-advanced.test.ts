/** Tests changes of durations, lists and names over HTTP: written as in the file, and refused with the loader's messages. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { SettingReply, SettingsReply } from '../../src/wire/client/index.ts';
import { configWriter } from '../../src/config/change.ts';
import { readConfig } from '../../src/config/index.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

async function serving(project: string): Promise<{ stage: Stage; user: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = { cwd: join(folder, 'shop'), env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state') } };
  mkdirSync(join(at.cwd, '.git'), { recursive: true });
  writeFileSync(join(at.cwd, 'earpiece.toml'), project);
  const stage = await Stage.open({ config: () => readConfig(at).config, configWriter: configWriter(at) });
  return { stage, user: join(folder, '.config/earpiece/earpiece.toml') };
}

const one = ({ settings }: SettingsReply, key: string): SettingReply | undefined => settings.find((each) => each.key === key);

verifies(
  'server:settings',
  'a duration is written as its text, a list as its lines, and a name as the person wrote it',
  async () => {
    const { stage, user } = await serving('[core]\nkinds = ["deploy.*"]\n');
    await using _stage = stage;
    const changed = await stage.client.changeSettings({
      'ttl.info': 'never',
      max_defer: '1h 30m',
      'max_level."*"': 'warning',
      'coalesce.sources.ci': '10s',
      'conversation.tools."npm test".notifications.failed': false,
      'core.kinds': ['ci.failed', 'vault.*'],
      'sources.files.globs': ['src/**', '!**/*.snap'],
      'agent.budget.tokens': 5_000,
    });
    expect(readFileSync(user, 'utf8')).toBe(
      [
        'max_defer = "1h 30m"',
        '[ttl]\ninfo = "never"',
        '[max_level]\n"*" = "warning"',
        '[coalesce.sources]\nci = "10s"',
        '[conversation.tools."npm test".notifications]\nfailed = false',
        '[core]\nkinds = ["ci.failed", "vault.*"]',
        '[sources.files]\nglobs = ["src/**", "!**/*.snap"]',
        '[agent.budget]\ntokens = 5000\n',
      ].join('\n\n'),
    );
    expect(one(changed, 'ttl.info')).toMatchObject({ text: 'never', change: { form: { kind: 'duration', never: true } } });
    expect(one(changed, 'max_defer')).toMatchObject({ text: '1h 30m', change: { form: { kind: 'duration', never: false } } });
    expect(one(changed, 'max_level."*"')).toMatchObject({ text: 'warning', change: { label: 'Highest level of *' } });
    expect(one(changed, 'coalesce.sources.ci')).toMatchObject({ text: '10s' });
    expect(one(changed, 'conversation.tools."npm test".notifications.failed')).toMatchObject({ value: false });
    // The entries of a stricter file stay: another file only adds entries.
    expect(one(changed, 'core.kinds')).toMatchObject({
      value: expect.arrayContaining(['deploy.*', 'ci.failed', 'vault.*']) as unknown,
      change: {
        addsUp: true,
        in: {
          user: { decidedBy: null, set: true, says: ['ci.failed', 'vault.*'] },
          project: { decidedBy: null, set: true, says: ['deploy.*'] },
        },
      },
    });
    expect(one(changed, 'sources.files.globs')).toMatchObject({
      value: ['src/**', '!**/*.snap'],
      change: { form: { kind: 'list' }, addsUp: false },
    });
    const none = await stage.client.changeSettings({ 'max_level."*"': null, 'coalesce.sources.ci': null, 'core.kinds': null });
    expect([one(none, 'max_level."*"'), one(none, 'coalesce.sources.ci')]).toEqual([undefined, undefined]);
    expect(one(none, 'core.kinds')?.value).not.toContain('vault.*');
  },
);

verifies(
  'server:settings-refused',
  'an invalid duration, list or name is refused, and the error says what to write',
  async () => {
    const { stage } = await serving('');
    await using _stage = stage;
    for (const [settings, message] of [
      [{ 'ttl.info': '3' }, 'ttl.info is "3"; write a duration such as "3d", from "1s" to "3650d", or "never"'],
      [{ 'ttl.info': 3 }, 'ttl.info is 3, without a unit; write a duration such as "3d", from "1s" to "3650d", or "never"'],
      [{ max_defer: 'never' }, 'max_defer is "never"; write a duration such as "30m", from "1s" to "30d"'],
      [{ 'max_level.two words': 'info' }, '"max_level.two words" is not a key'],
      [{ 'core.kinds': ['ci.failed', 'ci'] }, 'core.kinds has "ci" as element 2: it is not "source.name" or "source.*"'],
      [{ 'sources.files.globs': ['../x'] }, "it is blank, or leads out of the project's folder"],
      [{ redact: [] }, 'redact cannot be changed over HTTP; use earpiece config set, or edit the file'],
    ] as const)
      await expect(stage.client.changeSettings(settings)).rejects.toMatchObject({
        status: 400,
        code: 'bad_argument',
        field: Object.keys(settings)[0],
        message: expect.stringContaining(message) as unknown,
      });
  },
);
