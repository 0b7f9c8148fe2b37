/** Makes a home for agents' settings, with a project and with agent commands that do nothing. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { COMPILED } from '../compiled.ts';
import { CLI } from '../built.ts';

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** A prefix of the command. */
  readonly wrap?: readonly string[];
  /** The folder in which the command runs. Default: the project. */
  readonly cwd?: string;
};

export class Home implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-home-')));
  readonly home = join(this.folder, 'home');
  readonly project = join(this.folder, 'home/shop');
  readonly bin = join(this.folder, 'bin');

  /** Makes a home. `agents` are commands on the PATH. */
  constructor(...agents: readonly string[]) {
    for (const folder of [this.project, this.bin]) mkdirSync(folder, { recursive: true });
    mkdirSync(join(this.project, '.git'));
    for (const agent of agents) this.command(agent, 'exit 0');
  }

  command(name: string, script: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.bin, name), 0o755);
  }

  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    // No agent of this machine may be on the PATH.
    return { PATH: `${this.bin}:/usr/bin:/bin`, ...COMPILED, HOME: this.home, ...more };
  }

  run(args: readonly string[], { env = {}, wrap = [], cwd = this.project }: RunOptions = {}): Ran {
    const [command = '', ...words] = [...wrap, process.execPath, CLI, ...args];
    const { status, stdout, stderr } = spawnSync(command, words, { cwd, env: this.env(env), encoding: 'utf8' });
    return { code: status, stdout, stderr };
  }

  /** Starts a command and drops its output. */
  begin(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): { readonly kill: () => void; readonly ended: Promise<unknown> } {
    const child = spawn(process.execPath, [CLI, ...args], { cwd: this.project, env: this.env(env), stdio: 'ignore' });
    return { kill: () => void child.kill('SIGKILL'), ended: new Promise((resolve) => child.once('exit', resolve)) };
  }

  write(file: string, text: string | Buffer, mode = 0o644): string {
    const path = join(this.home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  read(file: string): string {
    return readFileSync(join(this.home, file), 'utf8');
  }

  has(file: string): boolean {
    return existsSync(join(this.home, file));
  }

  /** Returns the bytes and mode of each file, each link's target, and each folder of the home, except Earpiece's own files. */
  snapshot(): Readonly<Record<string, string>> {
    const all = readdirSync(this.home, { recursive: true, encoding: 'utf8' })
      .filter((path) => !/^\.(?:local|cache|config\/earpiece)(?:\/|$)/u.test(path))
      .toSorted();
    return Object.fromEntries(
      all.map((path) => {
        const file = join(this.home, path);
        const stat = lstatSync(file);
        const mode = (stat.mode & 0o7777).toString(8);
        if (stat.isSymbolicLink()) return [path, `link to ${readlinkSync(file)}`];
        return [path, stat.isDirectory() ? 'folder' : `${mode} ${readFileSync(file).toString('base64')}`];
      }),
    );
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
