import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { EarpieceError } from '../core/errors.ts';
import { changeOf, takesEffect } from './changeable.ts';
import { configWriter, type Asked, type Changed, type Scope } from './change.ts';
import { world, type World } from './fixtures.ts';
import { explain, watchConfig } from './index.ts';
import { replaceFile } from './replace.ts';
import { ALL_SETTINGS } from './schema.ts';

const set = (key: string, value: unknown): Asked => ({ key, to: { kind: 'value', value } });
const typed = (key: string, text: string): Asked => ({ key, to: { kind: 'text', text } });
const unset = (key: string): Asked => ({ key, to: { kind: 'unset' } });

const change = (here: World, scope: Scope, ...asked: Asked[]): Promise<Changed> =>
  configWriter(here.options()).change(scope, asked);
const refusal = async (here: World, work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof EarpieceError) return `${error.code}: ${here.short(error.message)}`;
    throw error;
  }
  return 'done';
};
const says = (here: World, key: string): string => {
  const found = explain(here.read().config, key);
  return found.kind === 'setting' ? here.short(`${found.text} by ${found.decidedBy}`) : JSON.stringify(found);
};

describe('a setting is changed in a file', () => {
  proves('config:set');

  test("a change is written to the user's or the project's file, which is created if it is missing", async () => {
    const here = world();
    expect(await change(here, 'user', set('budget.max_items', 3))).toEqual({
      file: here.userFile,
      keys: ['budget.max_items'],
      written: true,
    });
    expect(readFileSync(here.userFile, 'utf8')).toBe('[budget]\nmax_items = 3\n');
    expect(statSync(here.userFile).mode & 0o777).toBe(0o600);
    expect(says(here, 'budget.max_items')).toBe('3 by user file …/home/.config/earpiece/earpiece.toml:2:1');
    await change(here, 'project', set('budget.max_items', 4), set('view', 'toon'));
    expect(readFileSync(here.projectFile, 'utf8')).toBe('view = "toon"\n\n[budget]\nmax_items = 4\n');
    expect(says(here, 'budget.max_items')).toBe('4 by project file …/web/earpiece.toml:4:1');
    await change(here, 'project', unset('budget.max_items'));
    expect(says(here, 'budget.max_items')).toBe('3 by user file …/home/.config/earpiece/earpiece.toml:2:1');
  });

  test('a change is written to the effective file, even if this file is nearer than the root', async () => {
    const here = world();
    const nearer = here.write('web/packages/a/earpiece.toml', '# mine\n');
    const cwd = join(here.repository, 'packages/a');
    const writer = configWriter(here.options({ cwd }));
    expect(writer.fileOf('project')).toBe(nearer);
    await writer.change('project', [set('view', 'xml')]);
    expect(readFileSync(nearer, 'utf8')).toBe('# mine\nview = "xml"\n');
  });

  test('a key keeps its spelling, and both spellings are changed if both exist', async () => {
    const kinds = '[conversation.notifications.kinds.mcp]\nreconnected = true # c\n';
    const here = world({ project: `${kinds}[conversation.tools.t.spawn.notifications]\non_success = true\n` });
    await change(
      here,
      'project',
      set('conversation.notifications.kinds."mcp.reconnected"', false),
      set('conversation.tools.t.notifications.stopped', false),
    );
    expect(readFileSync(here.projectFile, 'utf8')).toBe(
      `${kinds.replace('true', 'false')}[conversation.tools.t.spawn.notifications]\non_success = false\n`,
    );
    here.write(
      'web/earpiece.toml',
      '[conversation.tools.t.notifications]\nstopped = true\n[conversation.tools.t.spawn.notifications]\non_success = true\n',
    );
    await change(here, 'project', set('conversation.tools.t.notifications.stopped', false));
    expect(readFileSync(here.projectFile, 'utf8').match(/false/gu)).toHaveLength(2);
    await change(here, 'project', unset('conversation.tools.t.notifications.stopped'));
    expect(readFileSync(here.projectFile, 'utf8')).toBe('');
  });

  test('a kind that is set to true passes the filter even if its source is off, in any file', async () => {
    const off = '[conversation.notifications.kinds.mcp]\nenable = false # quiet\n';
    const key = 'conversation.notifications.kinds.mcp.reconnected';
    const here = world({ project: `${off}reconnected = false\n` });
    await change(here, 'project', set(key, true));
    expect(readFileSync(here.projectFile, 'utf8')).toBe(`${off}\n[conversation.notifications.kinds]\n"mcp.reconnected" = true\n`);
    expect(says(here, key)).toMatch(/^true by project file/u);
    const two = world({ project: '# ours\n', user: off });
    await change(two, 'project', set(key, true));
    expect(says(two, key)).toMatch(/^true by project file/u);
    // If the source is on, a setting keeps the requested form.
    const on = world();
    await change(on, 'user', set(key, true));
    expect(readFileSync(on.userFile, 'utf8')).toBe('[conversation.notifications.kinds.mcp]\nreconnected = true\n');
  });

  test('two invalid values are corrected in one change', async () => {
    const here = world({ project: 'view = "jsno"\nmin_level = "warn"\n' });
    await change(here, 'project', set('view', 'json'), set('min_level', 'warning'));
    expect(here.read().problems).toEqual([]);
  });

  test('an unchanged value is not written', async () => {
    const here = world({ user: 'view = "xml" # mine\n' });
    utimesSync(here.userFile, 1, 1);
    expect(await change(here, 'user', set('view', 'xml'), unset('interrupt'))).toMatchObject({ written: false });
    expect(statSync(here.userFile).mtimeMs).toBe(1_000);
  });

  test.each([
    ['budget.max_items', '7', 'max_items = 7'],
    ['conversation.notifications.enable', 'off', 'enable = false'],
    ['ttl.info', '90m', 'info = "90m"'],
    ['ttl.critical', 'never', 'critical = "never"'],
    ['view', ' toon ', 'view = "toon"'],
    ['redact', 'a+, b+', 'redact = ["a+", "b+"]'],
    ['redact', '["a{1,2}"]', 'redact = ["a{1,2}"]'],
    ['agent.model', 'ollama:qwen3', 'model = "ollama:qwen3"'],
    ['db', 'postgres://me:s3cret@host/db', 'db = "postgres://me:s3cret@host/db"'],
    ['gateway.profiles.my-client', 'blocks', 'my-client = "blocks"'],
    ['max_level."*"', 'error', '"*" = "error"'],
  ])('%s accepts %j as a person types it', async (key, text, line) => {
    const here = world();
    await change(here, 'user', typed(key, text));
    expect(readFileSync(here.userFile, 'utf8').trimEnd().split('\n').at(-1)).toBe(line);
    expect(here.read().problems).toEqual([]);
  });

  test('a change takes effect at the next contact point', async () => {
    const here = world({ project: 'view = "xml"\n' });
    const watch = watchConfig(here.options());
    expect(watch.current().policy.view).toBe('xml');
    await change(here, 'project', set('view', 'toon'));
    expect(watch.current().policy.view).toBe('toon');
  });
});

describe('refused, and nothing is changed', () => {
  proves('config:set-refused');

  test.each([
    ['veiw', 'x', 'bad_argument: veiw is not a setting; did you mean view?'],
    ['max_items', '3', 'bad_argument: max_items is not a setting; did you mean budget.max_items?'],
    [
      'budget',
      '3',
      'bad_argument: budget is a table; name one of its settings: budget.max_items, budget.max_tokens, budget.max_item_chars',
    ],
    ['gateway.servers', 'x', 'bad_argument: gateway.servers is a table; name one of its settings: gateway.servers.<name>'],
    ['a..b', 'x', 'bad_argument: "a..b" is not a key; write the key as in the file, e.g. budget.max_items'],
    ['budget.max_items', '0', 'bad_argument: budget.max_items is 0; write a whole number from 1 to 1000'],
    ['budget.max_items', 'ten', 'bad_argument: budget.max_items is "ten"; write a whole number from 1 to 1000'],
    [
      'view',
      'tono',
      'bad_argument: view is "tono"; did you mean "toon"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja',
    ],
    ['max_defer', '30', 'bad_argument: max_defer is 30, without a unit; write a duration such as "30m", from "1s" to "30d"'],
    [
      'conversation.notifications.kinds.mcp',
      'false',
      'bad_argument: conversation.notifications.kinds.mcp is a source and not "source.name"; for the whole source, write [conversation.notifications.kinds.mcp] enable = false',
    ],
    [
      'conversation.notifications.kinds."two words".enable',
      'false',
      'bad_argument: conversation.notifications.kinds."two words" is not a valid source: letters, digits, "_" and "-", at most 64 characters',
    ],
    ['gateway.servers.x', 'npx', 'bad_argument: gateway.servers.x is "npx"; write servers into earpiece.toml'],
  ] as const)('%s %j', async (key, text, message) => {
    const here = world({ user: '# mine\n' });
    expect(await refusal(here, change(here, 'user', set('view', 'xml'), typed(key, text)))).toBe(message);
    expect(readFileSync(here.userFile, 'utf8')).toBe('# mine\n');
  });

  test('an error has the same text as the error of the loader', async () => {
    for (const [key, value] of [
      ['budget.max_items', 0],
      ['min_level', 'warn'],
      ['conversation.notifications.enable', 'yes'],
      ['ttl.info', 5],
      ['redact', ['(']],
    ] as const) {
      const here = world();
      const told = await refusal(here, change(here, 'user', set(key, value)));
      const table = key.split('.').slice(0, -1);
      const text = `${table.length === 0 ? '' : `[${table.join('.')}]\n`}${key.split('.').at(-1)} = ${JSON.stringify(value)}`;
      const loader = world({ project: text })
        .read()
        .problems[0]?.replace(/^.*?:\d+:\d+: /u, '');
      expect(told).toBe(`bad_argument: ${loader}`);
    }
  });

  test.each([
    [
      'no TOML',
      'view = "json"\nbudget =\n',
      /earpiece\.toml:2:9: is not valid TOML: .*\nnothing was changed; fix the problem above first$/u,
    ],
    [
      'another key is wrong',
      '# c\nveiw = "json"\n',
      /earpiece\.toml:2:1: veiw is unknown; did you mean "view"\?\nnothing was changed/u,
    ],
  ])('in a file where %s, the error names the place', async (_case, text, message) => {
    const here = world({ project: text });
    expect(await refusal(here, change(here, 'project', set('min_level', 'error')))).toMatch(message);
    expect(readFileSync(here.projectFile, 'utf8')).toBe(text);
  });

  test('an invalid value can be corrected and removed', async () => {
    const here = world({ project: 'view = "jsno" # c\n' });
    await change(here, 'project', set('view', 'json'));
    expect(readFileSync(here.projectFile, 'utf8')).toBe('view = "json" # c\n');
    here.write('web/earpiece.toml', 'veiw = "json"\n# c\n');
    await change(here, 'project', unset('veiw'));
    expect(readFileSync(here.projectFile, 'utf8')).toBe('# c\n');
    expect(await refusal(here, change(here, 'project', unset('veiw')))).toBe(
      'bad_argument: veiw is not a setting; did you mean view?',
    );
  });

  test('invalid UTF-8 is not replaced by other bytes', async () => {
    const here = world({ user: '' });
    const bytes = Buffer.from([...Buffer.from('# caf'), 0xe9, 0x0a]);
    writeFileSync(here.userFile, bytes);
    expect(await refusal(here, change(here, 'user', set('view', 'xml')))).toContain('is not UTF-8');
    expect(readFileSync(here.userFile)).toEqual(bytes);
  });

  test('a change fails if the folder cannot be made', async () => {
    const here = world();
    here.write('home/.config/earpiece', 'a file');
    expect(await refusal(here, change(here, 'user', set('view', 'xml')))).toBe(
      'bad_config: …/home/.config/earpiece/earpiece.toml cannot be changed (ENOTDIR); make the file and its folder writable, and check that the disk has free space',
    );
    mkdirSync(here.projectFile);
    expect(await refusal(here, change(here, 'project', set('view', 'xml')))).toMatch(
      /^bad_config: .* cannot be changed \(EISDIR\)/u,
    );
  });

  test('a read-only file stays unchanged', async () => {
    const here = world({ user: 'view = "json"\n' });
    chmodSync(here.userFile, 0o444);
    expect(await refusal(here, change(here, 'user', set('view', 'xml')))).toBe(
      'bad_config: …/home/.config/earpiece/earpiece.toml is read-only; make the file writable, or change the source from which it is generated',
    );
  });
});

describe('the file itself', () => {
  proves('config:set-safe');

  test('a changed file keeps its mode, links are followed, and no draft is left', async () => {
    const here = world();
    const real = here.write('dotfiles/earpiece.toml', 'view = "json"\n');
    chmodSync(real, 0o640);
    mkdirSync(dirname(here.userFile), { recursive: true });
    symlinkSync('../../../dotfiles/earpiece.toml', here.userFile);
    await change(here, 'user', set('view', 'xml'));
    expect(lstatSync(here.userFile).isSymbolicLink()).toBe(true);
    expect([readFileSync(real, 'utf8'), statSync(real).mode & 0o777]).toEqual(['view = "xml"\n', 0o640]);
    expect(readdirSync(dirname(real))).toEqual(['earpiece.toml']);
  });

  test('the missing target of a link is created', async () => {
    const here = world();
    mkdirSync(dirname(here.userFile), { recursive: true });
    const real = join(here.home, 'later/mine.toml');
    symlinkSync(real, here.userFile);
    await change(here, 'user', set('view', 'xml'));
    expect(readFileSync(real, 'utf8')).toBe('view = "xml"\n');
    expect(lstatSync(here.userFile).isSymbolicLink()).toBe(true);
  });

  test('no change is lost among many simultaneous changes of one process', async () => {
    const here = world({ user: '# mine\n' });
    const keys = Array.from({ length: 40 }, (_, i) => `coalesce.sources.s${i}`);
    await Promise.all(keys.map((key) => change(here, 'user', set(key, '1s'))));
    const said = here.read();
    expect(said.problems).toEqual([]);
    expect(keys.filter((key) => !said.config.layers.has(key))).toEqual([]);
    expect(readFileSync(here.userFile, 'utf8')).toMatch(/^# mine\n/u);
  });

  test('changes of one process wait for each other without a time limit', async () => {
    const here = world({ user: '' });
    const lines = Array.from({ length: 10 }, (_, i) => `# ${i}\n`);
    const add = (line: string) => replaceFile(here.userFile, (text) => text + line, { mode: 0o600, withinMs: 0 });
    expect(await Promise.all(lines.map(add))).toEqual(lines.map(() => true));
    expect(readFileSync(here.userFile, 'utf8')).toBe(lines.join(''));
  });

  test('no change is lost among several processes', async () => {
    const here = world({ user: '# mine\n' });
    const worker = here.write(
      'worker.ts',
      `import { configWriter } from ${JSON.stringify(join(import.meta.dirname, 'change.ts'))};
       const [home, cwd, name] = process.argv.slice(2);
       const writer = configWriter({ cwd, env: {}, home });
       for (let i = 0; i < 15; i++)
         // Without a pause, a process that changes one setting after another would keep the others waiting.
         await writer.change('user', [{ key: \`coalesce.sources.\${name}\${i}\`, to: { kind: 'value', value: '1s' } }]).then(() => new Promise((resolve) => setTimeout(resolve, 20)));`,
    );
    const run = promisify(execFile);
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => run(process.execPath, [worker, here.home, here.repository, name])));
    const { config, problems } = here.read();
    expect(problems).toEqual([]);
    expect([...config.layers.keys()].filter((key) => key.startsWith('coalesce.sources.'))).toHaveLength(45);
    expect(readdirSync(dirname(here.userFile))).toEqual(['earpiece.toml']);
  });

  test('a version that an editor saves during the change is not overwritten', async () => {
    const here = world({ user: 'view = "json"\n' });
    const work = replaceFile(
      here.userFile,
      (text) => {
        writeFileSync(here.userFile, 'view = "toon"\n');
        return `${text}# ours\n`;
      },
      { mode: 0o600 },
    );
    expect(await refusal(here, work)).toBe(
      'conflict: …/home/.config/earpiece/earpiece.toml was saved by another program at the same moment; nothing was changed, try again',
    );
    expect(readFileSync(here.userFile, 'utf8')).toBe('view = "toon"\n');
    expect(existsSync(`${here.userFile}.lock`)).toBe(false);
  });

  test('a file that an editor creates during the change is not overwritten', async () => {
    const here = world();
    const work = replaceFile(here.userFile, () => (here.write(here.userFile, 'view = "toon"\n'), '# ours\n'), { mode: 0o600 });
    expect(await refusal(here, work)).toContain('was saved by another program at the same moment');
    expect(readFileSync(here.userFile, 'utf8')).toBe('view = "toon"\n');
  });

  test('a change waits a limited time for another process, and removes the lock of a dead process', async () => {
    const here = world({ user: 'view = "json"\n' });
    const lock = here.write('home/.config/earpiece/earpiece.toml.lock', '');
    const work = replaceFile(here.userFile, (text) => `${text}# ours\n`, { mode: 0o600, withinMs: 50 });
    expect(await refusal(here, work)).toBe(
      'conflict: …/home/.config/earpiece/earpiece.toml is being changed by another program (…/home/.config/earpiece/earpiece.toml.lock); nothing was changed, try again',
    );
    const ago = new Date(Date.now() - 60_000);
    utimesSync(lock, ago, ago);
    await change(here, 'user', set('view', 'xml'));
    expect(readFileSync(here.userFile, 'utf8')).toBe('view = "xml"\n');
    expect(existsSync(lock)).toBe(false);
  });
});

test("only the listed settings of the console would need trust in a project's file, and each setting says when it takes effect", () => {
  const offered = ALL_SETTINGS.map((setting) => ({ setting, key: setting.pattern.map((part) => (part === '*' ? 'a' : part)) }))
    .map(({ setting, key }) => ({ setting, key: key.join('.') }))
    .filter(({ key }) => changeOf(key) !== undefined);
  // A change of these keys needs no separate consent.
  const asking = offered.filter(({ setting }) => setting.needsTrust !== undefined).map(({ key }) => key);
  expect(asking.toSorted()).toEqual([
    'budget.max_item_chars',
    'interrupt',
    'max_level.a',
    'ttl.critical',
    'ttl.error',
    'ttl.info',
    'ttl.warning',
    'view',
    'wake.critical',
    'wake.error',
    'wake.info',
    'wake.warning',
  ]);
  expect(offered.length).toBeGreaterThan(15);
  expect(takesEffect('budget.max_items')).toBe('now, from the next carrier on');
  expect(takesEffect('conversation.notifications.kinds."a.b"')).toBe('now, from the next carrier on');
  expect(takesEffect('conversation.tools.t.stateful')).toBe('at the next start of earpiece chat or earpiece run');
  expect(takesEffect('redact')).toBe('now, from the next notification on');
  for (const key of ['retention', 'tasks.retention']) expect(takesEffect(key)).toBe('at the next pruning');
  expect(takesEffect('server.port')).toBe('at the next start of earpiece serve');
  expect(takesEffect('veiw')).toBe(undefined);
});
