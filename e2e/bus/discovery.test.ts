/** Tests how a program with a bus finds subscriber files: three folders, two projects, changes while the program runs. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';
import { subscriberTrust } from '../../src/bus/index.ts';

const toml = (id: string, more = ''): string =>
  `[subscriber]\nid = "${id}"\nname = "Builds"\n[events]\ntypes = ["build.failed"]\n${more}`;
const TEMPLATE = '[output]\ntemplate = "build.toon.j2"';

/** `shop` and `bank` are two projects. `ear` runs in `shop`. */
class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-discovery-')));
  readonly problems: string[] = [];

  constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    for (const project of ['shop', 'bank']) {
      mkdirSync(join(this.root, project, '.git'), { recursive: true });
      writeFileSync(join(this.root, project, 'earpiece.toml'), `project = "${project}"\n`);
      subscriberTrust({ env: { XDG_STATE_HOME: join(this.root, 'state') } }).trust(
        join(this.root, project, '.earpiece/subscribers'),
      );
    }
  }

  path(place: 'user' | 'shop' | 'bank', name: string): string {
    return place === 'user'
      ? join(this.root, 'config/earpiece/subscribers', name)
      : join(this.root, place, '.earpiece/subscribers', name);
  }

  write(place: 'user' | 'shop' | 'bank', name: string, text: string): void {
    mkdirSync(dirname(this.path(place, name)), { recursive: true });
    writeFileSync(this.path(place, name), text);
  }

  async open(project = 'shop'): Promise<LoadedInbox> {
    const ear = await openLoadedInbox({
      db: join(this.root, 'earpiece.db'),
      cwd: join(this.root, project),
      env: { HOME: this.root, XDG_STATE_HOME: join(this.root, 'state'), XDG_CONFIG_HOME: join(this.root, 'config') },
      onProblem: (line) => this.problems.push(line.replaceAll(`${this.root}/`, '')),
    });
    onTestFinished(() => ear.close());
    return ear;
  }
}

/** The longest wait for a change of the folders, in ms. Folders are checked at most every 10 ms, and the machine may be busy. */
const PATIENCE_MS = 20_000;

/** Retries until exactly these subscribers have matched a failed build. */
async function heard(ear: LoadedInbox, subject: string, ids: readonly string[]): Promise<void> {
  await expect
    .poll(async () => (await ear.bus.emit({ type: 'build.failed', source: 'ci', subject })).heard.map((one) => one.subscriber), {
      interval: 5,
      timeout: PATIENCE_MS,
    })
    .toEqual(ids);
}

describe('a running program', () => {
  proves('bus:discovery');

  test('US6(a), US6(c), SC-007: an added file takes effect, and a removed file has no effect', async () => {
    const world = new World();
    const ear = await world.open();
    await heard(ear, 'shop/coder', []);
    world.write('shop', 'build.toml', toml('build'));
    await heard(ear, 'shop/coder', ['build']);
    world.write('user', 'mine.toml', toml('mine'));
    await heard(ear, 'shop/coder', ['mine', 'build']);
    rmSync(world.path('shop', 'build.toml'));
    await heard(ear, 'shop/coder', ['mine']);
    expect(world.problems).toEqual([]);
  });

  test('US6(b): an invalid file is logged once, with its place; the other files stay in effect', async () => {
    const world = new World();
    const ear = await world.open();
    world.write('shop', 'build.toml', toml('build'));
    await heard(ear, 'shop/coder', ['build']);
    world.write('shop', 'broken.toml', toml('broken').replace('types', 'typs'));
    await expect
      .poll(
        () => {
          ear.bus.subscribers('shop');
          return world.problems;
        },
        { timeout: PATIENCE_MS },
      )
      .toEqual([
        'shop/.earpiece/subscribers/broken.toml:4:2: events.types is missing; write a list of event types such as ["build.failed", "deploy.*"]',
        'shop/.earpiece/subscribers/broken.toml:5:1: events.typs is unknown; did you mean "types"?',
      ]);
    for (let n = 0; n < 5; n++) await heard(ear, 'shop/coder', ['build']);
    expect(world.problems).toHaveLength(2);
    world.write('shop', 'broken.toml', toml('repaired'));
    await heard(ear, 'shop/coder', ['repaired', 'build']);
  });

  test('after a restart, existing files apply, and removed files do not', async () => {
    const world = new World();
    world.write('shop', 'build.toml', toml('build'));
    await heard(await world.open(), 'shop/coder', ['build']);
    rmSync(world.path('shop', 'build.toml'));
    await heard(await world.open(), 'shop/coder', []);
  });

  test('4.12.9: in a program that serves several projects, the files of a project apply only to that project', async () => {
    const world = new World();
    world.write('shop', 'build.toml', toml('build'));
    world.write('bank', 'ledger.toml', toml('ledger'));
    // Other processes know a project once an agent has worked in it.
    const bank = await world.open('bank');
    await bank.queue('bank/teller', { message: 'x' });
    const ear = await world.open();
    await heard(ear, 'shop/coder', ['build']);
    await heard(ear, 'bank/teller', ['ledger']);
    await heard(ear, 'nowhere/agent', []);
  });

  test('a queued notification does not change if the file or its template changes', async () => {
    const world = new World();
    world.write('shop', 'build.toml', toml('build', TEMPLATE));
    world.write('shop', 'build.toon.j2', 'the first words');
    const ear = await world.open();
    await heard(ear, 'shop/coder', ['build']);
    world.write('shop', 'build.toon.j2', 'other words');
    await expect
      .poll(() => ear.bus.subscribers('shop').subscribers.find(({ id }) => id === 'build')?.output.template?.text, {
        timeout: PATIENCE_MS,
      })
      .toBe('other words');
    rmSync(world.path('shop', 'build.toml'));
    const { view } = await ear.conversation('shop/coder#main').preview({ at: 'tool_batch_end' });
    expect(view?.text).toContain('the first words');
    expect(view?.text).not.toContain('other words');
  });
});
