/** Makes a disk in a file, which can freeze, become slow and become full. Such a disk needs Linux, root and a loop device. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A slow disk is frozen for most of the time. */
const SLOW = { frozenMs: 60, worksMs: 15 };

export class Disk {
  readonly folder: string;
  readonly #image: string;
  #frozen = false;
  readonly #onExit = (): void => this.mend();

  constructor(image: string, megabytes: number) {
    this.#image = image;
    this.folder = `${image}.mounted`;
    mkdirSync(this.folder);
    writeFileSync(image, '');
    run('truncate', '-s', `${megabytes}M`, image);
    // No space is kept for root.
    run('mkfs.ext4', '-q', '-m', '0', image);
    run('mount', '-o', 'loop', image, this.folder);
    chmodSync(this.folder, 0o777);
    // A disk that stays frozen would hang every process that writes to it.
    process.on('exit', this.#onExit);
  }

  /** Freezes the disk for `ms`. Every write waits until the end of that time. */
  async freeze(ms: number): Promise<void> {
    await this.#freeze();
    await sleep(ms);
    this.mend();
  }

  async slow(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await this.#freeze();
      await sleep(SLOW.frozenMs);
      this.mend();
      await sleep(SLOW.worksMs);
    }
  }

  /** Fills the disk to its last byte for `ms`. */
  async fill(ms: number): Promise<void> {
    const ballast = join(this.folder, 'ballast');
    const { bavail, bsize } = statfsSync(this.folder);
    try {
      await exec('fallocate', ['-l', String(bavail * bsize), ballast]);
      // `fallocate` leaves a few blocks free.
      await exec('dd', ['if=/dev/zero', `of=${ballast}-rest`, 'bs=4096']);
    } catch {
      // The disk is full.
    }
    await sleep(ms);
    this.mend();
  }

  mend(): void {
    if (this.#frozen) spawnSync('fsfreeze', ['--unfreeze', this.folder]);
    this.#frozen = false;
    for (const name of ['ballast', 'ballast-rest']) rmSync(join(this.folder, name), { force: true });
  }

  remove(): void {
    this.mend();
    process.off('exit', this.#onExit);
    run('umount', '--lazy', this.folder);
    rmSync(this.#image, { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #freeze(): Promise<void> {
    this.#frozen = true;
    await exec('fsfreeze', ['--freeze', this.folder]);
  }
}

const exec = promisify(execFile);
const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'pipe' });

/** Returns why this machine cannot have such a disk, and undefined if it can. */
export function whyNoDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-disk-'));
  let disk: Disk | undefined;
  try {
    disk = new Disk(join(folder, 'probe'), 8);
    run('fsfreeze', '--freeze', disk.folder);
    run('fsfreeze', '--unfreeze', disk.folder);
    return undefined;
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return `no separate disk, so no full, slow or frozen disk (it needs Linux, root, mkfs.ext4, a loop device and fsfreeze): ${line}`;
  } finally {
    disk?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a fault of the schedule. Resolves with true when the fault has ended. */
export async function faultOf(disk: Disk, kind: string, ms: number): Promise<boolean> {
  if (kind === 'disk.frozen') await disk.freeze(ms);
  if (kind === 'disk.slow') await disk.slow(ms);
  if (kind === 'disk.full') await disk.fill(ms);
  return true;
}
