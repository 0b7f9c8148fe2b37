import { readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { world, type World } from './fixtures.ts';
import { formatProblem, policySource, rememberProject, trustBook, watchConfig } from './index.ts';
import type { Policy } from '../core/policy.ts';
import { proves } from '../../e2e/verifies.ts';

/** Watches a configuration, and collects the reported problems. */
function watched(from: World, given: Parameters<World['options']>[0] = {}): { view: () => string; reports: string[][] } {
  const reports: string[][] = [];
  const watch = watchConfig({
    ...from.options(given),
    onProblem: (problems) => reports.push(problems.map((problem) => from.short(formatProblem(problem)))),
  });
  return { view: () => watch.current().policy.view, reports };
}

const broken = (line: number): string =>
  `…/web/earpiece.toml:${line}:8: view is "xlm"; did you mean "xml"? Write one of default, markdown, xml, xml_batch, toon, json, signal_en, signal_ja`;

describe('a watched configuration', () => {
  test('changes when a file is written, created nearer, removed or replaced', () => {
    proves('config:live');
    const here = world({ project: 'view = "json"' });
    const cwd = here.write('web/deep/x', '').replace(/\/x$/, '');
    const { view, reports } = watched(here, { cwd });
    expect(view()).toBe('json');
    here.write(here.projectFile, 'view = "toon"');
    expect(view()).toBe('toon');
    here.write('web/deep/earpiece.toml', 'view = "xml"');
    expect(view()).toBe('xml');
    rmSync(join(cwd, 'earpiece.toml'));
    expect(view()).toBe('toon');
    renameSync(here.write('web/new.toml', 'view = "markdown"'), here.projectFile);
    expect(view()).toBe('markdown');
    rmSync(here.projectFile);
    here.write(here.userFile, 'view = "signal_en"');
    expect(view()).toBe('signal_en');
    expect(reports).toEqual([]);
  });

  test('is not read again while nothing changes', () => {
    const here = world({ project: 'view = "json"' });
    const long = new Date(Date.now() - 60_000);
    utimesSync(here.projectFile, long, long);
    const watch = watchConfig(here.options());
    const first = watch.current();
    expect(watch.current()).toBe(first);
  });

  test('is read again after a recent write, because a second write may leave the same state', () => {
    const here = world({ project: 'view = "json"' });
    const now = new Date();
    utimesSync(here.projectFile, now, now);
    const watch = watchConfig(here.options());
    const first = watch.current();
    const inTime = Date.now() - now.getTime() < 90;
    // If the machine took longer than one time step of the file system, this test proves nothing.
    if (inTime) expect(watch.current()).not.toBe(first);
    const { mtime } = statSync(here.projectFile);
    for (const next of ['toon', 'json', 'toon', 'json', 'toon']) {
      here.write(here.projectFile, `view = "${next}"`);
      utimesSync(here.projectFile, mtime, mtime);
      expect(watch.current().policy.view).toBe(next);
    }
  });

  test('a broken file leaves the old configuration in effect, and is reported once for each of its states', () => {
    proves('config:live');
    const here = world({ project: 'view = "json"' });
    const { view, reports } = watched(here);
    here.write(here.projectFile, 'view = "xlm"');
    expect([view(), view(), view()]).toEqual(['json', 'json', 'json']);
    expect(reports).toEqual([[broken(1)]]);
    here.write(here.projectFile, '\nview = "xlm"');
    expect([view(), view()]).toEqual(['json', 'json']);
    expect(reports).toEqual([[broken(1)], [broken(2)]]);
    here.write(here.projectFile, 'view = "toon"');
    expect(view()).toBe('toon');
    here.write(here.projectFile, 'view = "xlm"');
    expect(view()).toBe('toon');
    expect(reports).toEqual([[broken(1)], [broken(2)], [broken(1)]]);
  });

  test('if a file is broken at the start, its valid parts take effect and the error is reported once', () => {
    const here = world({ project: 'view = "xlm"\nmax_open = 3' });
    const reports: unknown[] = [];
    const watch = watchConfig({ ...here.options(), onProblem: (problems) => reports.push(problems) });
    expect(reports).toHaveLength(1);
    expect([watch.current().policy.maxOpen, watch.current().policy.view]).toEqual([3, 'default']);
    expect(reports).toHaveLength(1);
  });

  test('an invalid variable is reported at the start, and the files take effect', () => {
    const here = world({ project: 'view = "json"' });
    const { view, reports } = watched(here, { env: { EARPIECE_MAX_OPEN: '0' } });
    expect(reports).toEqual([['EARPIECE_MAX_OPEN is 0; write a whole number from 1 to 1000000']]);
    here.write(here.projectFile, 'view = "toon"\n');
    expect(view()).toBe('toon');
    expect(reports).toHaveLength(1);
  });

  test('new trust takes effect at once', () => {
    const here = world({ project: '[gateway.servers.a]\ncommand = "x"' });
    const watch = watchConfig(here.options());
    expect(watch.current().untrusted).toHaveLength(1);
    trustBook(here.options()).trust(here.projectFile);
    expect(Object.keys(watch.current().gateway.servers)).toEqual(['a']);
  });

  test('the configuration can be used even if a report throws', () => {
    const here = world({ project: 'view = "xlm"' });
    const watch = watchConfig({
      ...here.options(),
      onProblem: () => {
        throw new Error('no');
      },
    });
    expect(watch.current().policy.view).toBe('default');
  });
});

describe('the policy of a project', () => {
  /** Makes two repositories, `web` and `api`, of one user. */
  const two = (): World & { readonly api: string } => {
    const here = world({ project: 'view = "json"', user: 'max_open = 9' });
    here.write('api/.git', '');
    const file = here.write('api/earpiece.toml', 'view = "toon"');
    return { ...here, api: file.replace(/\/earpiece\.toml$/, '') };
  };
  const brief = ({ view, maxOpen }: Policy): [string, number] => [view, maxOpen];

  test("is the policy of the project's folder, and not of the reading process", () => {
    const here = two();
    const web = policySource(here.options());
    const api = policySource(here.options({ cwd: here.api }));
    expect(brief(api.policy('api'))).toEqual(['toon', 9]);
    expect(brief(web.policy('web'))).toEqual(['json', 9]);
    expect(brief(web.policy('api'))).toEqual(['toon', 9]);
    expect(brief(api.policy('web'))).toEqual(['json', 9]);
    here.write('api/earpiece.toml', 'view = "xml"\n');
    expect(brief(web.policy('api'))).toEqual(['xml', 9]);
  });

  test("the policy of an unknown project comes from the user's file", () => {
    const here = two();
    expect(brief(policySource(here.options()).policy('api'))).toEqual(['default', 9]);
    // The policy does not come from the user's home, even if the home is a repository with a configuration file.
    here.write(join(here.home, '.git'), '');
    here.write(join(here.home, 'earpiece.toml'), 'view = "xml"');
    expect(brief(policySource(here.options()).policy('api'))).toEqual(['default', 9]);
  });

  test('names the file, the variable or the flag that sets a value, and the kind of the file', () => {
    const here = world({ project: 'min_level = "error"\n' });
    const file = here.write('xdg/earpiece/earpiece.toml', '\nmax_open = 9\n');
    const env = { XDG_CONFIG_HOME: join(file, '../..'), EARPIECE_VIEW: 'json' };
    const { decidedBy } = policySource(here.options({ env }));
    const of = (key: string): unknown => decidedBy('web', key);
    expect([of('min_level'), of('max_open'), of('view'), of('budget.max_items')]).toEqual([
      { file: `${here.projectFile}:1`, scope: 'project' },
      { file: `${file}:2`, scope: 'user' },
      { file: 'EARPIECE_VIEW' },
      undefined,
    ]);
  });

  test('is found in the folder of its file, even below the root and under another name', () => {
    const here = two();
    const cwd = here.write('web/part/earpiece.toml', 'project = "part"\nview = "markdown"').replace(/\/earpiece\.toml$/, '');
    policySource(here.options({ cwd: here.write('web/part/src/x', '').replace(/\/x$/, '') })).policy('part');
    expect(brief(policySource(here.options({ cwd: here.api })).policy('part'))).toEqual(['markdown', 9]);
    expect(cwd).toContain('part');
  });

  test('belongs to the first of two folders with one name, and the second folder has another name', () => {
    const here = two();
    const file = here.write('elsewhere/web/earpiece.toml', 'view = "xml"');
    here.write('elsewhere/web/.git', '');
    policySource(here.options()).policy('web');
    const other = policySource(here.options({ cwd: file.replace(/\/earpiece\.toml$/, '') }));
    expect(brief(other.policy('elsewhere-web'))).toEqual(['xml', 9]);
    expect(brief(other.policy('web'))).toEqual(['json', 9]);
    const outsider = policySource(here.options({ cwd: here.api }));
    expect(brief(outsider.policy('web'))).toEqual(['json', 9]);
    rmSync(here.repository, { recursive: true });
    expect(brief(outsider.policy('web'))).toEqual(['default', 9]);
    expect(brief(outsider.policy('elsewhere-web'))).toEqual(['xml', 9]);
  });

  test('variables and flags of the reading process apply to each project', () => {
    const here = two();
    policySource(here.options({ cwd: here.api })).policy('api');
    const web = policySource(here.options({ env: { EARPIECE_VIEW: 'xml' } }));
    expect([brief(web.policy('web')), brief(web.policy('api'))]).toEqual([
      ['xml', 9],
      ['xml', 9],
    ]);
  });

  test('a broken file of another project is reported once, and shared problems only for the current project', () => {
    const here = two();
    const reports: string[] = [];
    policySource(here.options({ cwd: here.api })).policy('api');
    here.write(here.userFile, 'max_open = 0');
    here.write('api/earpiece.toml', 'max_open = 0');
    const web = policySource({
      ...here.options({ env: { EARPIECE_MAX_OPEN: 'x' } }),
      onProblem: (problems) => reports.push(...problems.map((problem) => here.short(formatProblem(problem)))),
    });
    for (let i = 0; i < 3; i++) web.policy('api');
    expect(reports).toEqual([
      'EARPIECE_MAX_OPEN is "x"; write a whole number from 1 to 1000000',
      '…/home/.config/earpiece/earpiece.toml:1:12: max_open is 0; write a whole number from 1 to 1000000',
      '…/api/earpiece.toml:1:12: max_open is 0; write a whole number from 1 to 1000000',
    ]);
  });

  test('the file with the projects is readable only by its owner, keeps the names of deleted folders, and never blocks a process', () => {
    const here = two();
    const file = join(here.home, '.local/state/earpiece/projects.json');
    const projects = (): unknown => (JSON.parse(readFileSync(file, 'utf8')) as { projects: unknown }).projects;
    policySource(here.options()).policy('web');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    policySource(here.options()).policy('web');
    policySource(here.options({ cwd: here.api })).policy('api');
    expect(projects()).toEqual([
      ['web', here.repository, here.repository],
      ['api', here.api, here.api],
    ]);
    rmSync(here.repository, { recursive: true });
    here.write('new/.git', '');
    policySource(here.options({ cwd: join(here.api, '../new') })).policy('new');
    expect(projects()).toEqual([
      ['web', here.repository, here.repository],
      ['api', here.api, here.api],
      ['new', join(here.api, '../new'), join(here.api, '../new')],
    ]);
    here.write(file, '{');
    expect(brief(policySource(here.options({ cwd: here.api })).policy('nobody'))).toEqual(['default', 9]);

    rmSync(join(file, '..'), { recursive: true });
    here.write(join(file, '..'), 'a file');
    const reports: string[] = [];
    const { config } = here.read({ cwd: here.api });
    rememberProject(config, here.options(), (problems) =>
      reports.push(...problems.map((problem) => here.short(problem.message))),
    );
    expect(reports).toEqual([
      '…/home/.local/state/earpiece/projects.json cannot be written (EEXIST); make …/home/.local/state/earpiece writable or set XDG_STATE_HOME',
    ]);
    expect(brief(policySource(here.options({ cwd: here.api })).policy('api'))).toEqual(['toon', 9]);
  });
});

test('withdrawing trust takes effect at once, even while the file is broken', () => {
  const here = world({ project: 'interrupt = "after"\nview = "xml"\n' });
  const book = trustBook(here.options());
  book.trust(here.projectFile);
  const watch = watchConfig(here.options());
  expect(watch.current().policy.interrupt).toBe('after');
  here.write(here.projectFile, 'interrupt = "after"\nview = "xml"\nveiw = 1\n');
  expect(watch.current().policy.interrupt).toBe('after');
  book.untrust(here.projectFile);
  expect(watch.current().policy).toMatchObject({ interrupt: 'before', view: 'xml' });
});
