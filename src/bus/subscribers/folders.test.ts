import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../config/index.ts';
import { least } from '../../../e2e/least.ts';
import { proves, verifies } from '../../../e2e/verifies.ts';
import type { Subscriber, SubscriberProblem, SubscriberSource } from '../subscriber.ts';
import { MAX_FILES } from './folder.ts';
import { projectFolder, shippedFolder, subscriberFolders, type SubscriberFoldersOptions } from './folders.ts';

type World = {
  readonly root: string;
  readonly source: SubscriberSource;
  /** Paths begin with `shipped/`, `user/` or `web/` (the folder of the project `web`). */
  readonly write: (path: string, text: string) => string;
  readonly remove: (path: string) => void;
  /** `id name` of each subscriber of `web`. */
  readonly names: () => string[];
  readonly problems: () => string[];
  readonly find: (id: string) => Subscriber | undefined;
  /** The problems passed to `onProblem`, one list for each call. */
  readonly reported: string[][];
  readonly short: (text: string) => string;
};

/** Makes folders with these files. By default, each call of `of` checks the folders of the user and of the project. */
function world(files: Readonly<Record<string, string>> = {}, more: Partial<SubscriberFoldersOptions> = {}): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-folders-')));
  onTestFinished(() => {
    execFileSync('chmod', ['-R', 'u+rwX', root]);
    rmSync(root, { recursive: true, force: true });
  });
  const place: Readonly<Record<string, string>> = {
    shipped: join(root, 'shipped'),
    user: join(root, 'user'),
    web: projectFolder(join(root, 'web')),
  };
  mkdirSync(join(root, 'shipped'));
  const pathOf = (path: string): string => {
    const slash = path.indexOf('/');
    return join(place[path.slice(0, slash)] ?? root, path.slice(slash + 1));
  };
  const write = (path: string, text: string): string => {
    const file = pathOf(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const reported: string[][] = [];
  const short = (text: string): string => text.replaceAll(place['web'] ?? '', 'web').replaceAll(`${root}/`, '');
  const line = (problem: SubscriberProblem): string =>
    `${problem.severity === 'warning' ? 'warning: ' : ''}${short(formatProblem(problem))}`;
  const source = subscriberFolders({
    shipped: join(root, 'shipped'),
    user: join(root, 'user'),
    projectRoot: (project) => (project === 'web' ? join(root, 'web') : undefined),
    onProblem: (problems) => reported.push(problems.map(line)),
    checkEveryMs: 0,
    ...more,
  });
  return {
    root,
    source,
    write,
    remove: (path) => unlinkSync(pathOf(path)),
    names: () => source.of('web').subscribers.map(({ id, name }) => `${id} ${name}`),
    problems: () => source.of('web').problems.map(line),
    find: (id) => source.of('web').subscribers.find((subscriber) => subscriber.id === id),
    reported,
    short,
  };
}

const toml = (id: string, name = id, more = ''): string =>
  `[subscriber]\nid = "${id}"\nname = "${name}"\n[events]\ntypes = ["build.failed"]\n${more}`;
const core = (id: string, more = ''): string => toml(id, id, `[output]\ncore = true\n${more}`);

describe('three folders', () => {
  test('US6(a), FR-006: subscribers of the project replace subscribers of the user with the same id, and both replace shipped subscribers', () => {
    proves('bus:discovery');
    const { names, problems, source } = world({
      'shipped/a.toml': toml('a'),
      'shipped/b.toml': toml('b'),
      'user/b.toml': toml('b', 'mine'),
      'user/c.toml': toml('c'),
      'web/c.toml': toml('c', 'ours'),
      'web/d.toml': toml('d'),
    });
    expect(names()).toEqual(['a a', 'b mine', 'c ours', 'd d']);
    expect(problems()).toEqual([]);
    expect(source.of('web').subscribers.map(({ from }) => from.folder)).toEqual(['shipped', 'user', 'project', 'project']);
  });

  test('4.12.9: a project’s subscribers do not apply to another project', () => {
    proves('bus:discovery');
    const { source } = world({ 'shipped/a.toml': toml('a'), 'web/d.toml': toml('d') });
    expect(source.of('web').subscribers.map(({ id }) => id)).toEqual(['a', 'd']);
    expect(source.of('other').subscribers.map(({ id }) => id)).toEqual(['a']);
  });

  test('folders of the user and of projects may be missing, but not the folder of the package', () => {
    const { problems, names, root } = world();
    expect(problems()).toEqual([]);
    expect(names()).toEqual([]);
    const without = subscriberFolders({ shipped: join(root, 'none') });
    expect(without.of('web').problems).toEqual([
      { file: join(root, 'none'), severity: 'error', message: 'does not exist; reinstall earpiece' },
    ]);
  });

  test('files with other endings or a leading dot are ignored', () => {
    const { names, problems } = world({
      'user/a.toml': toml('a'),
      'user/README.md': '# hello',
      'user/.#a.toml': '???',
      'user/a.toml~': '???',
      'user/a.toml.swp': '???',
    });
    expect(names()).toEqual(['a a']);
    expect(problems()).toEqual([]);
  });

  test('if two files of a folder have the same id, the first file by name is used, and an error names both files', () => {
    proves('bus:checked');
    const { names, problems } = world({ 'user/z.toml': toml('a', 'second'), 'user/b.toml': toml('a', 'first') });
    expect(names()).toEqual(['a first']);
    expect(problems()).toEqual([
      'user/z.toml:2:6: subscriber.id "a" is also the id of user/b.toml, which is used; choose another id: each id may appear only once in a folder',
    ]);
  });

  test('the valid subscribers are used even if a lookup or report of the caller throws', () => {
    const { source, root } = world(
      { 'shipped/a.toml': toml('a'), 'user/b.toml': '[' },
      {
        projectRoot: () => {
          throw new Error('no');
        },
        onProblem: () => {
          throw new Error('no');
        },
      },
    );
    expect(root).not.toBe('');
    expect(source.of('web').subscribers.map(({ id }) => id)).toEqual(['a']);
  });
});

describe('the core', () => {
  proves('bus:locked');

  test('FR-012, FR-030: a replacement of a core subscriber stays a core subscriber', () => {
    const { find, problems } = world({ 'shipped/a.toml': core('a'), 'user/a.toml': toml('a', 'mine') });
    expect(find('a')).toMatchObject({ name: 'mine', output: { core: true } });
    expect(problems()).toEqual([]);
  });

  test('a replacement that sets core to false is reported', () => {
    const { find, problems } = world({ 'shipped/a.toml': core('a'), 'web/a.toml': toml('a', 'ours', '[output]\ncore = false') });
    expect(find('a')?.output.core).toBe(true);
    expect(problems()).toEqual([
      'warning: web/a.toml:7:8: output.core is false, but a is a core subscriber (shipped/a.toml) and cannot become a normal subscriber; remove core',
    ]);
  });

  test('a replacement of a core subscriber with fewer events is reported', () => {
    const { problems } = world({
      'shipped/a.toml': core('a').replace('["build.failed"]', '["tool.call.failure", "tool.call.timeout", "build.failed"]'),
      'user/a.toml': toml('a').replace('["build.failed"]', '["tool.*"]'),
    });
    expect(problems()).toEqual([
      'warning: user/a.toml:5:9: events.types lacks build.failed, which the core subscriber shipped/a.toml listens to; add this type',
    ]);
  });

  test('a user may define core subscribers, a project may not', () => {
    const { find, problems } = world({ 'user/mine.toml': core('mine'), 'web/ours.toml': core('ours') });
    expect(find('mine')?.output.core).toBe(true);
    expect(find('ours')?.output.core).toBe(false);
    expect(problems()).toEqual([
      "warning: web/ours.toml:7:8: output.core has no effect in a project's file, so the subscriber can still be disabled; remove core",
    ]);
  });
});

describe('without a restart', () => {
  proves('bus:discovery');

  test('US6(a), SC-007: a new file takes effect with the next event', () => {
    const { names, write } = world({ 'shipped/a.toml': toml('a') });
    expect(names()).toEqual(['a a']);
    write('web/b.toml', toml('b'));
    expect(names()).toEqual(['a a', 'b b']);
    write('user/c.toml', toml('c'));
    expect(names()).toEqual(['a a', 'c c', 'b b']);
  });

  test('US6(b): an invalid file is named, and the other files are loaded', () => {
    const { names, problems } = world({ 'web/a.toml': '[subscriber]\nid = "a', 'web/b.toml': toml('b') });
    expect(names()).toEqual(['b b']);
    expect(problems()).toEqual(['web/a.toml:2:6: is not valid TOML: unfinished string, in "id = \\"a"; see https://toml.io']);
  });

  test('US6(c): a removed file no longer has an effect', () => {
    const { names, remove } = world({ 'shipped/a.toml': toml('a'), 'web/a.toml': toml('a', 'ours'), 'web/b.toml': toml('b') });
    expect(names()).toEqual(['a ours', 'b b']);
    remove('web/a.toml');
    expect(names()).toEqual(['a a', 'b b']);
    remove('web/b.toml');
    expect(names()).toEqual(['a a']);
  });

  test('a changed file takes effect, even if it was changed in place with the same length within one tick of the clock', () => {
    const { names, write } = world({ 'web/a.toml': toml('a', 'one') });
    expect(names()).toEqual(['a one']);
    for (let n = 10; n < 60; n++) {
      write('web/a.toml', toml('a', `n${n}`));
      expect(names()).toEqual([`a n${n}`]);
    }
  });

  test('a file that replaces another file by a move takes effect', () => {
    const { names, write, root } = world({ 'web/a.toml': toml('a', 'one') });
    expect(names()).toEqual(['a one']);
    const draft = write('web/.draft', toml('a', 'two'));
    renameSync(draft, join(root, 'web/.earpiece/subscribers/a.toml'));
    expect(names()).toEqual(['a two']);
  });

  test('a file that becomes invalid is not used and is named; after a repair it is used again', () => {
    const { names, problems, write } = world({ 'web/a.toml': toml('a'), 'web/b.toml': toml('b') });
    expect(names()).toEqual(['a a', 'b b']);
    write('web/a.toml', toml('a').replace('types', 'typs'));
    expect(names()).toEqual(['b b']);
    expect(problems()).toContain('web/a.toml:5:1: events.typs is unknown; did you mean "types"?');
    write('web/a.toml', toml('a', 'again'));
    expect(names()).toEqual(['a again', 'b b']);
    expect(problems()).toEqual([]);
  });

  test('a new, changed or removed template takes effect like a subscriber', () => {
    const { find, problems, write, remove } = world({ 'web/a.toml': toml('a', 'a', '[output]\ntemplate = "a.toon.j2"') });
    expect(find('a')?.output.template).toBeUndefined();
    expect(problems()).toEqual([
      'warning: web/a.toml:7:12: output.template is "a.toon.j2", which is not in this folder, so the generic view is used; add the file',
    ]);
    write('web/a.toon.j2', 'one');
    expect(find('a')?.output.template).toMatchObject({ name: 'a.toon.j2', text: 'one' });
    expect(find('a')?.output.template?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(problems()).toEqual([]);
    write('web/a.toon.j2', 'two');
    expect(find('a')?.output.template?.text).toBe('two');
    remove('web/a.toon.j2');
    expect(find('a')?.output.template).toBeUndefined();
  });

  test('the whole folder can be made and removed', () => {
    const { names, write, root } = world();
    expect(names()).toEqual([]);
    write('web/a.toml', toml('a'));
    expect(names()).toEqual(['a a']);
    rmSync(join(root, 'web'), { recursive: true });
    expect(names()).toEqual([]);
  });

  test('a problem is reported once per state, for any project', () => {
    const { source, reported, write } = world({ 'user/a.toml': '[a', 'web/b.toml': '[b' });
    for (const project of ['web', 'other', 'web', 'other']) source.of(project);
    expect(reported.flat().map((line) => line.slice(0, line.indexOf(': ')))).toEqual(['user/a.toml:1:2', 'web/b.toml:1:2']);
    write('user/c.toml', '[c');
    for (const project of ['web', 'other', 'web']) source.of(project);
    expect(reported.flat().map((line) => line.slice(0, line.indexOf(': ')))).toEqual([
      'user/a.toml:1:2',
      'web/b.toml:1:2',
      'user/c.toml:1:2',
    ]);
  });
});

describe('an unchanged subscriber', () => {
  test('an unchanged set is the same object, and so is each unchanged subscriber in a new set', () => {
    proves('bus:discovery');
    const { source, write } = world({
      'shipped/a.toml': core('a'),
      'user/a.toml': toml('a', 'mine'),
      'web/b.toml': toml('b', 'b', '[output]\ntemplate = "b.toon.j2"'),
      'web/b.toon.j2': 'b',
      'web/c.toml': core('c'),
    });
    const before = source.of('web');
    expect(source.of('web')).toBe(before);
    // Writing the same content again changes nothing.
    write('web/b.toml', toml('b', 'b', '[output]\ntemplate = "b.toon.j2"'));
    write('web/b.toon.j2', 'b');
    expect(source.of('web')).toBe(before);
    write('web/d.toml', toml('d'));
    const after = source.of('web');
    expect(after.subscribers.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    for (const [i, subscriber] of before.subscribers.entries()) expect(after.subscribers[i]).toBe(subscriber);
  });

  test('a folder that changes after a long time is read again', () => {
    const { source, root, write } = world({ 'web/a.toml': toml('a', 'one') });
    const old = new Date(Date.now() - 60_000);
    const file = join(root, 'web/.earpiece/subscribers/a.toml');
    for (const path of [file, dirname(file)]) utimesSync(path, old, old);
    const before = source.of('web');
    expect(source.of('web')).toBe(before);
    write('web/a.toml', toml('a', 'two'));
    expect(source.of('web').subscribers[0]?.name).toBe('two');
  });

  test('100,000 requests take less than a second, because few of them check the folders', async () => {
    const { source } = world({ 'shipped/a.toml': toml('a'), 'web/b.toml': toml('b') }, { checkEveryMs: 10 });
    const set = source.of('web');
    const asked = async (): Promise<number> => {
      const began = performance.now();
      for (let n = 0; n < 100_000; n++) if (source.of('web') !== set) throw new Error('it changed');
      return performance.now() - began;
    };
    expect(await least(1_000, asked)).toBeLessThan(1_000);
  });

  test('reading the folders does not keep a process alive', () => {
    const code = `import { subscriberFolders } from ${JSON.stringify(join(import.meta.dirname, 'folders.ts'))};
      subscriberFolders({ shipped: '/nowhere', user: '/nowhere' }).of('web');`;
    execFileSync(process.execPath, ['--input-type=module', '-e', code], { timeout: 20_000 });
  });
});

describe('files that cannot be read', () => {
  proves('bus:checked');

  test('a file in place of a folder is reported', () => {
    const { problems, write, root: folder } = world();
    write('web/x', '');
    rmSync(join(folder, 'web/.earpiece/subscribers'), { recursive: true });
    writeFileSync(join(folder, 'web/.earpiece/subscribers'), '');
    expect(problems()).toEqual(['web: is not a folder; subscribers are *.toml files in a folder of this name']);
  });

  test('a folder and a file without read permission are reported, and other files are read', () => {
    const { root, short } = world({ 'web/a.toml': toml('a'), 'web/b.toml': toml('b'), 'user/c.toml': toml('c') });
    const closed = [join(root, 'web/.earpiece/subscribers/a.toml'), join(root, 'user')];
    chmodSync(root, 0o755);
    for (const path of closed) chmodSync(path, 0);
    expect(short(askedByOther(root))).toBe(
      'b\nuser: cannot be read (EACCES); make the folder readable, or remove it\nweb/a.toml: cannot be read (EACCES); make the file readable\n',
    );
    for (const path of closed) chmodSync(path, 0o755);
    expect(askedByOther(root)).toBe('c a b\n');
  });

  test('a folder, a pipe, a device and a link to nothing in place of a file are reported', () => {
    const { problems, root: folder, write } = world();
    const at = dirname(write('user/ok.toml', toml('ok')));
    mkdirSync(join(at, 'a.toml'));
    execFileSync('mkfifo', [join(at, 'b.toml')]);
    symlinkSync('/dev/zero', join(at, 'c.toml'));
    symlinkSync(join(folder, 'nothing'), join(at, 'd.toml'));
    expect(problems()).toEqual([
      'user/a.toml: is not a file; rename or remove it',
      'user/b.toml: is not a file; rename or remove it',
      'user/c.toml: is not a file; rename or remove it',
      'user/d.toml: is a link to a missing file; correct or remove the link',
    ]);
  });

  test('an encoding other than UTF-8 is reported; a byte order mark is not part of the text', () => {
    const { find, problems, root: folder, write } = world();
    const bytes = (name: string, data: Buffer): void => writeFileSync(join(folder, name), data);
    write('user/ok.toml', `\ufeff${toml('ok', 'ok', '[output]\ntemplate = "ok.toon.j2"')}`);
    write('user/ok.toon.j2', '\ufeffsaid');
    bytes('user/latin.toml', Buffer.from(toml('latin', 'Müller'), 'latin1'));
    bytes('user/wide.toml', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(toml('wide'), 'utf16le')]));
    expect(problems()).toEqual([
      'user/latin.toml: is not UTF-8; save the file as UTF-8',
      'user/wide.toml: is UTF-16; save the file as UTF-8',
    ]);
    expect(find('ok')?.output.template?.text).toBe('said');
  });

  test('a file and a template that are too large are refused', () => {
    const { problems } = world({
      'user/a.toml': `${toml('a')}# ${'x'.repeat(65_536)}`,
      'user/b.toml': toml('b', 'b', '[output]\ntemplate = "b.toon.j2"'),
      'user/b.toon.j2': 'x'.repeat(65_537),
    });
    expect(problems()).toEqual([
      `user/a.toml: has ${toml('a').length + 65_538} bytes, but at most 65536 are allowed; shorten the file`,
      'user/b.toml:7:12: output.template is "b.toon.j2", which has 65537 bytes, but at most 65536 are allowed; shorten the file',
    ]);
  });

  test('a link out of a project’s folder is not followed, but a link out of the user’s folder is', () => {
    const { problems, names, root: folder, write } = world();
    write('secret.toml', toml('secret'));
    write('id_rsa', 'PRIVATE KEY');
    for (const place of ['user', 'web']) {
      const at = dirname(write(`${place}/t.toml`, toml(`${place}_t`, 't', '[output]\ntemplate = "t.toon.j2"')));
      symlinkSync(join(folder, 'secret.toml'), join(at, 's.toml'));
      symlinkSync(join(folder, 'id_rsa'), join(at, 't.toon.j2'));
      symlinkSync('own.txt', join(at, 'own.toml'));
      write(`${place}/own.txt`, toml(`${place}_own`));
    }
    expect(problems()).toEqual([
      'web/s.toml: is a link to a place outside of the folder; copy the file into the folder',
      'web/t.toml:7:12: output.template is "t.toon.j2", which is a link to a place outside of the folder; copy the file into the folder',
    ]);
    expect(names()).toEqual(['user_own user_own', 'secret secret', 'user_t t', 'web_own web_own']);
  });

  test(`10,000 files: the first ${MAX_FILES} are read, and the other files are reported`, () => {
    const { source, root: folder, problems } = world({ 'user/x': '' });
    for (let n = 0; n < 10_000; n++) writeFileSync(join(folder, `user/s${String(n).padStart(5, '0')}.toml`), toml(`s${n}`));
    const { subscribers } = source.of('web');
    expect(subscribers).toHaveLength(MAX_FILES);
    expect(subscribers.at(-1)?.id).toBe('s999');
    expect(problems()).toEqual([`user: has 10000 *.toml files; only the first ${MAX_FILES} by name are read: remove some files`]);
  }, 60_000);

  test('a file stays in use while other files are made, removed and truncated', () => {
    const { source, root: folder, write } = world();
    write('user/a.toml', toml('a'));
    const file = (n: number): string => join(folder, `user/f${n % 20}.toml`);
    for (let n = 0; n < 400; n++) {
      if (n % 3 === 0) rmSync(file(n), { force: true });
      else writeFileSync(file(n), toml(`f${n % 20}`).slice(0, n % 4 === 0 ? 20 : undefined));
      expect(source.of('web').subscribers.some(({ id }) => id === 'a')).toBe(true);
    }
  });
});

/** Reads ids and problems as a user other than root, because file permissions do not apply to root. */
function askedByOther(root: string): string {
  const code = `import { formatProblem } from ${JSON.stringify(join(import.meta.dirname, '../../config/index.ts'))};
    import { subscriberFolders } from ${JSON.stringify(join(import.meta.dirname, 'folders.ts'))};
    const folders = { shipped: ${JSON.stringify(join(root, 'shipped'))}, user: ${JSON.stringify(join(root, 'user'))} };
    const set = subscriberFolders({ ...folders, projectRoot: () => ${JSON.stringify(join(root, 'web'))} }).of('web');
    console.log(set.subscribers.map(({ id }) => id).join(' '));
    for (const problem of set.problems) console.log(formatProblem(problem));`;
  const args = ['--input-type=module', '-e', code];
  return execFileSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: root,
    ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
  });
}

verifies('bus:discovery', 'the shipped folder is found from the sources and from the built package, at any depth', () => {
  const { root, write } = world();
  write('package.json', '{}');
  for (const from of ['dist', 'dist/cli', 'dist/chunks', 'src/bus/subscribers'])
    expect(shippedFolder(join(root, from))).toBe(join(root, 'subscribers'));
  expect(shippedFolder()).toBe(join(import.meta.dirname, '../../../subscribers'));
});
