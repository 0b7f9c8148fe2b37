import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';
import { PACKAGE } from '../built.ts';
import { subscriberTrust } from '../../src/bus/index.ts';

const SHIPPED = join(PACKAGE, 'subscribers');

const build = (more = ''): string => `[subscriber]
id = "build"
name = "Builds"
[events]
types = ["build.*"]
severity_filter = "warning"
sources = ["ci"]
[batching]
dedupe_key = "payload.job"
[output]
template = "build.toon.j2"
${more}`;
const TEMPLATE = 'build: {{ event.payload.job }} {{ event.type }}{{ " " ~ count ~ " times" if count > 1 }}';

/** Makes a project `shop` with these files in `.earpiece/subscribers`. */
function shop(files: Readonly<Record<string, string>> = {}): Shell & { readonly place: string } {
  const shell = new Shell();
  mkdirSync(join(shell.folder, '.git'));
  const place = join(shell.folder, '.earpiece/subscribers');
  subscriberTrust({ env: shell.env() }).trust(place);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  return Object.assign(shell, { place });
}

const event = (type: string, more: object = {}): string =>
  JSON.stringify({ type, source: 'ci', severity: 'error', data: { job: 'web' }, ...more });

describe('list', () => {
  proves('cli:commands', 'bus:discovery');

  it('US5(a), FR-027..030: lists all subscribers with their origin, their events and their state', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': TEMPLATE });
    const rows = (await shell.says(['subscribers', 'list'])).split('\n').map((row) => row.split(/ {2,}/));
    expect(rows[0]).toEqual(['id', 'state', 'from', 'priority', 'moment', 'name', 'events']);
    expect(rows).toContainEqual(['build', 'on', 'project', 'normal', 'turn_start', 'Builds', 'build.*']);
    expect(rows).toContainEqual([
      'tool_failure',
      'locked',
      'shipped',
      'high',
      'after_tool',
      'Tool failures',
      'tool.call.failure, tool.call.timeout',
    ]);
    expect(rows.slice(-4)).toEqual([
      ['locked: this subscriber cannot be disabled, because agents must not miss the notifications of a core subscriber'],
      ['shipped subscribers that take effect only as a copy: repeated_failures (to copy: earpiece subscribers copy <id>)'],
      [
        `folders for your own subscribers: ${shell.place} (this project), ${shell.folder}/config/earpiece/subscribers (all your projects)`,
      ],
      [''],
    ]);

    const all = await shell.json(['subscribers', 'list']);
    expect(all.find(({ id }) => id === 'build')).toEqual({
      id: 'build',
      name: 'Builds',
      description: '',
      version: '1.0.0',
      events: { types: ['build.*'], severityFilter: 'warning', sources: ['ci'] },
      priority: 'normal',
      injectAt: 'turn_start',
      core: false,
      state: 'on',
      offBy: [],
      from: { folder: 'project', file: join(shell.place, 'build.toml') },
      template: 'build.toon.j2',
    });
    expect(all.find(({ id }) => id === 'loop_detected')).toMatchObject({
      core: true,
      state: 'on',
      locked: 'agents must not miss the notifications of a core subscriber',
    });
  });

  it('US6(b): lists problems of files last, and still lists all subscribers', async () => {
    await using shell = shop({ 'a.toml': '[subscriber', 'build.toml': build() });
    const said = await shell.says(['subscribers', 'list']);
    expect(said).toContain('build ');
    expect(said.trimEnd().split('\n').slice(-2)).toEqual([
      `${shell.place}/a.toml:1:2: is not valid TOML: incomplete key-value: cannot find end of key, in "[subscriber"; see https://toml.io`,
      `${shell.place}/build.toml:11:12: warning: output.template is "build.toon.j2", which is not in this folder, so the generic view is used; add the file`,
    ]);
    const lines = await shell.json(['subscribers', 'list']);
    expect(lines.filter((line) => 'problem' in line)).toHaveLength(2);
  });
});

describe('enable and disable', () => {
  proves('cli:commands', 'bus:disabled');

  it('US5(b), FR-031: after disable, the next event queues nothing, and list shows the subscriber as off', async () => {
    await using shell = shop({ 'build.toml': build() });
    const ear = await shell.open();
    const heard = async (): Promise<unknown> =>
      (await ear.bus.emit({ type: 'build.failed', source: 'ci', severity: 'error', subject: 'shop/coder', data: {} })).heard[0];
    expect(await heard()).toMatchObject({ kind: 'queued' });

    expect(await shell.says(['subscribers', 'disable', 'build'])).toBe('build is off in project shop\n');
    expect(await shell.says(['subscribers', 'disable', 'build'])).toBe('build was off already in project shop\n');
    expect(await heard()).toEqual({ subscriber: 'build', kind: 'skipped', because: 'the subscriber is disabled' });
    expect(await shell.says(['subscribers', 'list'])).toMatch(/^build +off \(project\) /m);

    expect(await shell.json(['subscribers', 'disable', '--user', 'build'])).toEqual([
      { id: 'build', changed: true, state: 'off', offBy: ['user', 'project'] },
    ]);
    expect(await shell.says(['subscribers', 'enable', 'build'])).toBe(
      'build is on in project shop\nthis subscriber stays off here, because it is off in all projects; to enable it there: earpiece subscribers enable build --user\n',
    );
    expect(await heard()).toMatchObject({ because: 'the subscriber is disabled' });
    expect(await shell.says(['subscribers', 'enable', 'build', '--user'])).toBe('build is on in all projects\n');
    expect(await heard()).toMatchObject({ kind: 'folded' });
    expect(await shell.says(['subscribers', 'enable', 'build', '--project'])).toBe('build was on already in project shop\n');
  });

  it('a subscriber whose file was deleted can be switched on', async () => {
    await using shell = shop({ 'build.toml': build() });
    await shell.says(['subscribers', 'disable', 'build']);
    rmSync(join(shell.place, 'build.toml'));
    expect(await shell.says(['subscribers', 'enable', 'build'])).toBe('build is on in project shop\n');
    expect((await shell.run(['subscribers', 'enable', 'build'])).code).toBe(7);
  });
});

describe('copy', () => {
  proves('cli:commands', 'bus:discovery');

  it('copies the files unchanged, and changes in the copy take effect', async () => {
    await using shell = shop();
    const [toml, template] = ['large_result.toml', 'large_result.toon.j2'].map((name) => join(shell.place, name)) as [
      string,
      string,
    ];
    expect(await shell.says(['subscribers', 'copy', 'large_result'])).toBe(
      `${toml}\n${template}\nlarge_result is copied; your changes to the copy take effect with the next event\n`,
    );
    expect(readFileSync(template)).toEqual(readFileSync(join(SHIPPED, 'large_result.toon.j2')));
    writeFileSync(toml, readFileSync(toml, 'utf8').replace('> 20000', '> 2000'));
    const input = event('tool.call.success', { data: { tool_name: 'read', result_length: 3_000 } });
    expect(await shell.says(['emit', '--to', 'coder', '-'], { input })).toContain('large_result: queued');
    expect(await shell.says(['subscribers', 'list'])).toMatch(/^large_result +on +project /m);
    rmSync(toml);
    expect((await shell.run(['emit', '--to', 'coder', '-'], { input })).stdout).toContain('the condition is not true');
  });

  it('repeated_failures takes effect only as a copy, and reports three failures of a tool with any arguments', async () => {
    await using shell = shop();
    const failed = (failures?: number): string =>
      event('tool.call.failure', { severity: 'error', data: { tool_name: 'search', ...(failures && { failures }) } });
    const emitted = async (failures?: number): Promise<string> =>
      (await shell.run(['emit', '--to', 'coder', '-'], { input: failed(failures) })).stdout;
    expect(await shell.says(['subscribers', 'list'])).toMatch(
      /^shipped subscribers that take effect only as a copy: repeated_failures /m,
    );
    expect(await emitted(3)).not.toContain('repeated_failures');
    expect((await shell.run(['subscribers', 'enable', 'repeated_failures'])).stderr).toContain(
      'repeated_failures takes effect only as a copy; to make the copy: earpiece subscribers copy repeated_failures',
    );
    const [toml, template] = ['toml', 'toon.j2'].map((end) => join(shell.place, `repeated_failures.${end}`));
    expect(await shell.says(['subscribers', 'copy', 'repeated_failures'])).toBe(
      `${toml}\n${template}\nrepeated_failures is copied; your changes to the copy take effect with the next event\n`,
    );
    expect(await shell.says(['subscribers', 'list'])).not.toContain('more, once copied');
    expect(await emitted(2)).not.toContain('repeated_failures: queued');
    expect(await emitted()).not.toContain('repeated_failures: queued');
    expect(await emitted(3)).toContain('repeated_failures: queued');
  });

  it('a copied core subscriber stays a core subscriber; --user copies for all projects, without problems', async () => {
    await using shell = shop();
    const [made] = await shell.json(['subscribers', 'copy', '--user', 'tool_failure']);
    const folder = join(shell.folder, 'config/earpiece/subscribers');
    expect(made).toEqual({
      id: 'tool_failure',
      files: ['tool_failure.toml', 'tool_failure.toon.j2'].map((name) => join(folder, name)),
      trusted: true,
    });
    await shell.says(['subscribers', 'copy', 'tool_failure']);
    expect(await shell.says(['subscribers', 'check'])).not.toContain('warning');
    expect(await shell.says(['subscribers', 'list'])).toMatch(/^tool_failure +locked +project /m);
  });

  it('names a folder that cannot be written', async () => {
    await using shell = new Shell();
    writeFileSync(join(shell.folder, '.earpiece'), '');
    expect(await shell.run(['subscribers', 'copy', 'timer'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `earpiece: ${shell.folder}/.earpiece/subscribers cannot be written (ENOTDIR); give yourself write access to the folder, or use --user\n`,
    });
  });

  it('keeps existing files, and names missing files', async () => {
    await using shell = shop({ 'message.toon.j2': 'mine' });
    expect(await shell.run(['subscribers', 'copy', 'timer'])).toEqual({
      code: 12,
      stdout: '',
      stderr: `earpiece: ${shell.place}/message.toon.j2 exists with other content; rename or remove this file\n`,
    });
    expect(existsSync(join(shell.place, 'timer.toml'))).toBe(false);
    await shell.says(['subscribers', 'copy', 'large_result']);
    expect(await shell.run(['subscribers', 'copy', 'large_result'])).toMatchObject({
      code: 12,
      stderr: expect.stringMatching(/is already in /),
    });
    expect(await shell.run(['subscribers', 'copy', 'large_reslt'])).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('did you mean large_result'),
    });
  });
});

describe('check', () => {
  proves('cli:commands', 'cli:exit-codes', 'bus:checked');

  it('checks all files that apply here, and leaves out missing folders', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': TEMPLATE });
    expect(await shell.says(['subscribers', 'check'])).toBe(`${SHIPPED} is fine: 26 subscribers\n${shell.place} is fine\n`);
    await using empty = shop();
    expect(await empty.says(['subscribers', 'check'])).toBe(`${SHIPPED} is fine: 26 subscribers\n`);
  });

  it('prints each problem with its place, also in templates and conditions; exits with 8 if there are errors', async () => {
    await using shell = shop({
      'a.toml': build('prioritty = "high"').replace('id = "build"', 'id = "a"'),
      'b.toml': build('[condition]\nexpression = "payload.size >"').replace('id = "build"', 'id = "b"'),
      'build.toml': build(),
      'build.toon.j2': 'build:\n{% if event %}{{ event.type }',
    });
    const { code, stdout, stderr } = await shell.run(['subscribers', 'check']);
    expect({ code, stderr }).toEqual({ code: 8, stderr: '' });
    const told = stdout.trimEnd().split('\n').slice(1);
    expect(told.slice(0, 1)).toEqual([`${shell.place}/a.toml:12:1: output.prioritty is unknown; did you mean "priority"?`]);
    expect(told[1]).toMatch(/b\.toml:13:14: condition\.expression: .+/);
    expect(told[2]).toMatch(/build\.toon\.j2:2:1: .+/);
    expect(told).toHaveLength(3);
    const lines = await shell.run(['subscribers', 'check', '--json']);
    expect(lines.code).toBe(8);
    expect(
      lines.stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { severity: string }).severity),
    ).toEqual(['error', 'error', 'error']);
  });

  it('accepts the names of files and folders; a warning is not an error', async () => {
    await using shell = shop({ 'build.toml': build(), 'more/x.toml': build(), 'more/build.toon.j2': TEMPLATE });
    const at = '.earpiece/subscribers';
    const { code, stdout } = await shell.run(['subscribers', 'check', `${at}/build.toml`, `${at}/more`, `${at}/more/x.toml`]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${at}/build.toml:11:12: warning: output.template is "build.toon.j2", which is not in this folder, so the generic view is used; add the file\n${at}/more is fine\n${at}/more/x.toml is fine\n`,
    });
  });

  it('warns of a template that fails for an event of Earpiece', async () => {
    const file = `[subscriber]\nid = "t"\nname = "T"\n[events]\ntypes = ["timer.fired"]\n[output]\ntemplate = "t.toon.j2"\n`;
    await using shell = shop({ 't.toml': file, 't.toon.j2': '{{ event.payload.none.at_all }}' });
    const { code, stdout } = await shell.run(['subscribers', 'check', '.earpiece/subscribers']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/t\.toon\.j2: warning: fails for a timer\.fired: .*event\.payload\.none\.at_all/);
  });
});

describe('test', () => {
  proves('cli:commands', 'bus:checked');

  it('shows the notification as the model would read it; nothing is queued', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': TEMPLATE });
    writeFileSync(join(shell.folder, 'event.json'), event('build.failed'));
    const file = '.earpiece/subscribers/build.toml';
    const said = await shell.says(['subscribers', 'test', file, 'event.json']);
    expect(said).toBe('build.failed: matched\n\n  │ build error: build: web build.failed\n');
    expect(await shell.says(['subscribers', 'test', 'build', '-'], { input: event('build.failed') })).toBe(said);
    const ear = await shell.open();
    expect(await ear.store.overview()).toEqual([]);
  });

  it('several events are counted and grouped as usual', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': TEMPLATE });
    const same = Array.from({ length: 3 }, () => JSON.parse(event('build.failed')) as object);
    const said = await shell.says(['subscribers', 'test', 'build', '-'], { input: JSON.stringify(same) });
    expect(said).toContain('build error: build: web build.failed 3 times\n');
  });

  it('explains why the subscriber ignores the event: severity, source, type, condition', async () => {
    await using shell = shop({ 'build.toml': build('[condition]\nexpression = "payload.size > 10"'), 'build.toon.j2': TEMPLATE });
    const events = [
      event('deploy.failed'),
      event('build.failed', { severity: 'info' }),
      event('build.failed', { source: 'elsewhere' }),
      event('build.failed', { data: { size: 3 } }),
    ].join('\n');
    const { code, stdout } = await shell.run(['subscribers', 'test', 'build', '-'], { input: events });
    expect({ code, stdout }).toEqual({
      code: 5,
      stdout: `deploy.failed: not heard, type deploy.failed is not among build.*
build.failed: not heard, severity info is below warning
build.failed: not heard, source elsewhere is not among ci
build.failed: not heard, the condition is not true: payload.size > 10
`,
    });
  });

  it('exits with 8 if the template fails, names the place and reason, and shows the fallback text', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': 'build\n{{ event.payload.a.b.c }}' });
    const { code, stdout } = await shell.run(['subscribers', 'test', 'build', '-'], { input: event('build.failed') });
    expect(code).toBe(8);
    expect(stdout).toMatch(/build\.failed \(job: web\) \(its template failed\)\n\n {2}line 2: /);
  });

  it('--json has the same content for programs', async () => {
    await using shell = shop({ 'build.toml': build(), 'build.toon.j2': TEMPLATE });
    const lines = await shell.json(['subscribers', 'test', 'build', '-'], { input: event('build.failed') });
    expect(lines).toEqual([
      { type: 'build.failed', heard: { subscriber: 'build', kind: 'queued', id: expect.any(String) as string } },
      { ids: [expect.any(String) as string], text: 'build error: build: web build.failed' },
    ]);
  });

  it('reports an invalid file as subscribers check does', async () => {
    await using shell = shop({ 'build.toml': build('core = 1') });
    const { code, stdout } = await shell.run(['subscribers', 'test', '.earpiece/subscribers/build.toml', '-'], {
      input: event('build.failed'),
    });
    expect(code).toBe(8);
    expect(stdout).toContain('.earpiece/subscribers/build.toml:12:8: output.core is 1; write true or false\n');
  });
});
