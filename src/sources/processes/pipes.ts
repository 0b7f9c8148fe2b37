/**
 * Makes pipes like a shell's. Node gives a child sockets: a script that writes to `/dev/stderr` fails on them, and a program
 * whose reader has closed gets an error other than SIGPIPE. So these are FIFOs whose names are deleted once they are open.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** `write` is for the child. Close it after handing it over, so that `read` ends when all others have closed it. */
export type Pipe = { readonly read: Readable; readonly write: number };

/** Undefined if FIFOs are unavailable (no `mkfifo`, no folder for them). */
export function makePipes(count: number): readonly Pipe[] | undefined {
  let folder: string | undefined;
  const open: number[] = [];
  const keep = (fd: number): number => {
    open.push(fd);
    return fd;
  };
  try {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-pipe-'));
    const names = Array.from({ length: count }, (_, i) => join(folder ?? '', String(i)));
    execFileSync('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' });
    return names.map((name) => {
      // A nonblocking reader opens first. So the writer, which blocks as children expect, does not wait.
      const fd = keep(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
      const write = keep(openSync(name, constants.O_WRONLY));
      return { read: new Socket({ fd, readable: true, writable: false }), write };
    });
  } catch {
    for (const fd of open) closeSync(fd);
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
